dtinfo quant 1 2 3
