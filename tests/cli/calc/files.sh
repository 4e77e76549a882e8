# needs mpfr
dtinfo calc '[[1, 2, 3], [4, 5, 6]]' fp16 -o a.npy -q
dtinfo calc '[0.1, 500]' fp32 -o 'b c.safetensors' -q
dtinfo calc '@a.npy' fp8_e4m3fn
dtinfo calc 'matmul(@a.npy, [1, 0, 0])' fp16 -q
dtinfo calc '@"b c.safetensors":data' fp8_e4m3fn
