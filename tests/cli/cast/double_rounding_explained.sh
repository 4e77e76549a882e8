dtinfo cast 0x1.0020000001p+0 fp16 --via fp32
dtinfo cast 0x1.0020000001p+0 fp16
