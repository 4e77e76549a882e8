# needs mpfr
dtinfo calc '0.1 * 10 - 1' fp32,fp16
dtinfo calc '0.1 * 10 - 1' fp32,fp16 --fma
