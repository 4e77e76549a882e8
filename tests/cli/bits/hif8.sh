# The width of the fields is in the code: each prefix, the sign of the exponent, zero, NaN and infinity.
dtinfo bits 0x5d hif8
dtinfo bits 0x83 hif8
dtinfo bits 0 hifloat8
dtinfo bits 0x80 hif8
dtinfo bits -inf torch_npu.hifloat8
dtinfo bits 0x0d hif8 --json
dtinfo bits 0x00 hif8 --json
