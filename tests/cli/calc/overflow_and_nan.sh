# needs mpfr
dtinfo calc '10k*10k' fp16 --overflow saturate
dtinfo calc '100 + 100' int8,uint8
dtinfo calc '100 + 100' int8 --overflow wrap
dtinfo calc '1 - 0/0' fp16 --nan canonical -q
dtinfo calc '448 + 100' fp8_e4m3fn
