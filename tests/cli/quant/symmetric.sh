dtinfo quant -1 0.1 3 int8
dtinfo quant -1 0.1 3 int8 --symmetry half
dtinfo quant -1 0.1 3 uint8 --symmetric
dtinfo quant 0.3 -1 1 int2
