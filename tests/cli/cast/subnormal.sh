dtinfo cast 1e-7 fp16
dtinfo cast 1e-45 fp32
dtinfo cast 1e-8 fp16
