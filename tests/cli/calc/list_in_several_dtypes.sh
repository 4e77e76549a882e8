# needs mpfr
dtinfo calc 'exp([-20, 0, 5, 11])' fp16,bf16,fp8_e4m3fn
dtinfo calc 'rand(3)' fp16,bf16
