# needs mpfr
dtinfo calc '1e-8 + 1' fp16 --json
