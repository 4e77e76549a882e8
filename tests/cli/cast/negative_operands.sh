dtinfo cast -1.5 bf16
dtinfo cast -inf fp16
dtinfo cast -0x1p-3 fp8_e4m3fn
dtinfo cast -.5 fp4_e2m1
dtinfo cast -nan fp16 -q
dtinfo cast -q -0 fp32
dtinfo cast -q -- -1e3 bf16
