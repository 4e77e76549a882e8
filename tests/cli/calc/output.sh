# needs mpfr
dtinfo calc 'randn(2048, 1024)' fp32 --seed 1 -o w.npy
dtinfo calc '@w.npy * 2' bf16 -o w.safetensors --json
dtinfo inspect w.safetensors
dtinfo calc 'max(abs(@w.safetensors:data))' bf16 -q
dtinfo calc 'max(abs(@w.safetensors))' bf16 -q
dtinfo calc '[1, 2, 3]' int4 -o w.npy -q
echo "exit $?"
dtinfo calc '[1, 2, 3]' int4 -o w.npy -q --force
dtinfo calc @w.npy int8 -q
dtinfo calc @w.npy int8 -q --assume int4
ls
