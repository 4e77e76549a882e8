# needs mpfr
dtinfo calc 'sum(repeat(1,1000))' bf16
dtinfo calc 'sum(repeat(1,1000))' bf16 --accumulate fp32
