dtinfo bits -q 0.1 bf16
dtinfo bits -q 0.1 bf16,fp16,fp32
dtinfo bits -q 0x3dcd bf16
dtinfo bits -q 0.1 bf16 exponent,significand
dtinfo bits -q 0x3c complex64 real.text,imaginary.text
dtinfo bits --field dtype,text 0x7f
dtinfo bits -q 0.1 bf16 mantisa
dtinfo bits -q 0.1 bf61
