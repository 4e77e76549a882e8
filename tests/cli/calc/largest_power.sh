# needs mpfr
dtinfo calc '1^1000000000' fp32 -q
dtinfo calc '1^1000000001' fp32 -q
