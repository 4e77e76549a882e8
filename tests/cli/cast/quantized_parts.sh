# Scales are not rounded on the way: they stay as they are, whatever the layout, unless a pattern names them.
mkdir gptq mlx
cp "$TESTS/../data/gptq.safetensors" gptq/model.safetensors
cp "$TESTS/../data/mlx.safetensors" mlx/model.safetensors
cp "$TESTS/../data/bitsandbytes_int8.safetensors" int8.safetensors
dtinfo cast gptq bf16 -o gptq16
dtinfo compare gptq gptq16 --raw --only '*.scales' -q; echo "exit $?"
dtinfo cast mlx bf16 -o mlx16
dtinfo cast int8.safetensors bf16 -o int8_16.safetensors --json | jq -c '(.tensors[] | [.name, .fate]), .warnings[].code'
dtinfo cast gptq bf16 --cast-only '*.scales' -o gptq_scales
python3 "$MAKERS/make_checkpoint.py" model
dtinfo quant model fp8_e4m3fn -o fp8.safetensors -q
dtinfo cast fp8.safetensors bf16 -o fp8_16.safetensors | head -n 4
