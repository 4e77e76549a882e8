# needs mpfr
dtinfo calc '256+1' bf16
dtinfo calc 256 + 1 bf16 -q
