dtinfo quant 0.1 -3 1000 fp8_e4m3fn
dtinfo quant 0.1 -3 1000 fp8_e5m2 --scale 0.001
