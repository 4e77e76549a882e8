# needs mpfr
dtinfo calc '1/3' fp16 --true-value never
dtinfo calc 'sum(repeat(1, 70000))' fp32
dtinfo calc 'sum(repeat(1, 70000))' fp32 --true-value always
