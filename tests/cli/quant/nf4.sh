dtinfo quant 0.1 0.7 -3 7 nf4 -v
