# needs mpfr
dtinfo calc '10k*10k' fp16
dtinfo calc 'inf - inf' fp16
dtinfo calc '1/0' fp16
dtinfo calc 'exp(-20)' fp16
dtinfo calc '1e-5 / 3' fp16
dtinfo calc '1.001 - 1' fp16
dtinfo calc '1e5' fp16
dtinfo calc 'x = [1e4, 10001, 10002]; sum(x*x)/3 - (sum(x)/3)^2' fp32
dtinfo calc 'x = [1000, 1001]; exp(x)/sum(exp(x))' fp32
