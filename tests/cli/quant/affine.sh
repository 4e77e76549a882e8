dtinfo quant -1 0.1 3 uint8
dtinfo quant -1 0.1 3 int8 --affine --like torch
dtinfo quant 2 3 uint4 -v
