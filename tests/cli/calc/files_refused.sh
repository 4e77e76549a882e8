dtinfo calc '@missing.npy' fp16
dtinfo calc '@here.bin' fp16
printf 'no tensors' > here.bin
dtinfo calc '@here.bin' fp16
dtinfo calc '[1, 2]' fp32 -o a.npy -q
dtinfo calc '@a.npy:weight' fp16
cp "$TESTS/../../docs/sample/model.safetensors" .
dtinfo calc @model.safetensors fp16
