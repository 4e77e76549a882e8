dtinfo calc 'rand(3)' fp32 -q
dtinfo calc 'rand(3)' fp32 -q --seed 1
dtinfo calc 'randn(3)' fp32 -q --seed 18446744073709551615
