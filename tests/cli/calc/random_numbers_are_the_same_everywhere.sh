dtinfo calc 'randn(500, 200)' fp32 --seed 1 -o w.npy -q
dtinfo calc 'rand(1000)' fp16 --seed 1 -o v.safetensors -q
sha256sum w.npy v.safetensors
