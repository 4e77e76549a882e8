# needs mpfr
dtinfo calc 'x=linspace(0,1,1000); dot(x,x)' fp32,bf16
