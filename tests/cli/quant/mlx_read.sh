# What MLX and transformers wrote, and the numbers that they make of it.
cp "$TESTS/../data/mlx.safetensors" "$TESTS/../data/mlx_numbers.safetensors" .
cp "$TESTS/../data/mlx.json" config.json
dtinfo inspect mlx.safetensors
dtinfo inspect mlx.safetensors --json | jq -c '.files[].tensors[] | select(.quantized) | [.name, .quantized, (.stored_parts | map(.part))]'
dtinfo inspect mlx.safetensors --stats --width 100
dtinfo compare mlx.safetensors mlx_numbers.safetensors
dtinfo check mlx.safetensors
dtinfo mem mlx.safetensors bf16
dtinfo quant mlx.safetensors fp32 --dequant -o back.safetensors
dtinfo compare back.safetensors mlx_numbers.safetensors
echo "# one of them stays, and so do its parts"
dtinfo quant mlx.safetensors bf16 --dequant --keep '*.four.weight' -qo some.safetensors
dtinfo inspect some.safetensors --raw | grep four
echo "# quantizing leaves them and their parts alone, and a cast says what they are"
dtinfo quant mlx.safetensors int8 -qo again.safetensors; echo "exit $?"
dtinfo compare mlx.safetensors again.safetensors --raw | head -3
dtinfo cast mlx.safetensors fp16 -o cast.safetensors -q
echo "# experts of gpt-oss"
rm config.json
cp "$TESTS/../data/gpt_oss.safetensors" "$TESTS/../data/gpt_oss_numbers.safetensors" .
dtinfo inspect gpt_oss.safetensors
dtinfo compare gpt_oss.safetensors gpt_oss_numbers.safetensors
dtinfo quant gpt_oss.safetensors bf16 --dequant -o experts.safetensors
dtinfo compare experts.safetensors gpt_oss_numbers.safetensors --bitwise
