dtinfo cast 1e10 fp32 --via fp16
