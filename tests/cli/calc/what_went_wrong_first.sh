# needs mpfr
dtinfo calc '10k*10k - inf' fp16
