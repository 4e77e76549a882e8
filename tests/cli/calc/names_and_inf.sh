# needs mpfr
dtinfo calc 'x = 1e4; x*x - inf' fp16,bf16
