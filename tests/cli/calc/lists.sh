# needs mpfr
dtinfo calc 'linspace(0, 1, 1000)' bf16
dtinfo calc '[[1, 2, 3], [4, 5, 6]] / 3' fp16
dtinfo calc 'randn(20, 3)' fp16 --seed 1
dtinfo calc '[0.1, 0.2, 0.3]' fp32 -q
dtinfo calc 'rand(2, 2, 2)' fp16
