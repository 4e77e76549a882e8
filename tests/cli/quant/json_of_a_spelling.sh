dtinfo quant 1 e4m3 --scale 1 --json
