dtinfo bits 0x12g4 fp16
