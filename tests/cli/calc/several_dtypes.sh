# needs mpfr
dtinfo calc '10k*10k' fp16,bf16,fp32
