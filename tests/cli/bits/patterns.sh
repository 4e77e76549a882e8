dtinfo bits 0x7e fp8_e4m3fn
dtinfo bits 0x80 fp8_e4m3fnuz
dtinfo bits 0x80 fp8_e4m3fn
dtinfo bits 0b0111110000000000 fp16
dtinfo bits 0x0001 fp16
dtinfo bits 0xff fp8_e8m0
dtinfo bits 0x80 int8
