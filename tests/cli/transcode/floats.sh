# plain floats are what quant --dequant makes
cp "$TESTS/../data/gpt_oss.safetensors" .
dtinfo transcode gpt_oss.safetensors --to bf16 -o one.safetensors
dtinfo quant gpt_oss.safetensors bf16 --dequant -o two.safetensors -q
cmp one.safetensors two.safetensors && echo same
dtinfo transcode gpt_oss.safetensors --to fp16 -o half.safetensors --json | jq -c '.schema, .output.dtype, .totals.dequantized'
python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo transcode model.gguf --to fp32 -o floats.safetensors --select none.weight
echo "exit $?"
