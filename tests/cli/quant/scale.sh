# fp32(-12.15) / fp32(0.1) is just above -121.5; times fp32(10) it is -121.5 itself
dtinfo quant -12.149999618530273 int8 --scale 0.1
dtinfo quant -12.149999618530273 int8 --scale 0.1 --like torch
dtinfo quant -12.149999618530273 int8 --scale 0.1 --like onnx -q
dtinfo quant -12.149999618530273 int8 --scale 0.1 --division exact
dtinfo quant 5 5.5 9 uint2 --scale 0.5 --zero-point 1
