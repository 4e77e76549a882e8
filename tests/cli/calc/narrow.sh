# needs mpfr
dtinfo calc 'x=linspace(0,1,1000); dot(x,x)' fp32,bf16 --width 60
dtinfo calc 'layernorm([1, 2, 3])' bf16 --steps --width 80
