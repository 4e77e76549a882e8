dtinfo cast 70000 fp16
dtinfo cast 70000 fp8_e4m3fn
dtinfo cast 1e40 fp32
