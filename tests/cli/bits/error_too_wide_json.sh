dtinfo bits 0x12345 fp16 --json
