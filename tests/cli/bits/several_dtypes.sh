dtinfo bits 0.1 bf16,fp16 fp8_e4m3fn
dtinfo bits 0x3f80 bf16 uint16
dtinfo bits 1 bf16,e4m3 --json
dtinfo bits 1 bf16,e4m3 --jsonl
dtinfo bits 1 bf16,bf61
dtinfo bits nan fp16,int8
