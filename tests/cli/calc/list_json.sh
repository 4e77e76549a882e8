# needs mpfr
dtinfo calc 'softmax([-20, 5])' fp16 --json --steps --accumulate fp32
dtinfo calc 'rand(65537)' fp16 --json
