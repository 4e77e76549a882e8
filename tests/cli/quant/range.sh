dtinfo quant -1 0.5 9 uint8 --min -2 --max 2
dtinfo quant -1 0.5 9 int8 --max 2
dtinfo quant 2 3 uint8 --min 1
