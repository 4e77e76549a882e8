dtinfo quant 1 2 3 int8,int4,mxfp4 -q
dtinfo quant 1/3 E2M1,nvfp4
