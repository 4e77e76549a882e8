dtinfo cast nan fp32,fp16,bf16,fp8_e5m2,fp8_e4m3fn
dtinfo cast -nan fp32,fp16,bf16,fp8_e5m2,fp8_e4m3fn
dtinfo cast -nan fp32,fp16,bf16,fp8_e5m2,fp8_e4m3fn --nan canonical
