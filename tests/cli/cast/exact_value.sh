dtinfo cast 1.5 fp16
dtinfo cast 0 bf16
dtinfo cast -0 bf16
dtinfo cast -0 fp8_e4m3fnuz
