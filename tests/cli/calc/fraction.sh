# needs mpfr
dtinfo calc '1/3' fp16
dtinfo calc 'sqrt(2)' fp32
dtinfo calc '0.5 + 0.25' fp16
