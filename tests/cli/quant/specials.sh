dtinfo quant nan inf -inf 1e39 1 uint8 --affine --min -1 --max 1
dtinfo quant nan inf -inf 1e10 1 int8 --like torch
dtinfo quant nan inf int4
dtinfo quant nan inf 448 fp8_e4m3fn
dtinfo quant 1 nan mxfp4
