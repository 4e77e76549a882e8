# needs mpfr
dtinfo calc 'softmax([-20, 0, 5])' fp16 --steps
