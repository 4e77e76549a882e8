# Tensors of torchao; the numbers are its own. Entries of the metadata go where the parts go.
cp "$TESTS/../data/torchao.safetensors" theirs.safetensors
cp "$TESTS/../data/torchao_numbers.safetensors" numbers.safetensors
dtinfo inspect theirs.safetensors
dtinfo inspect theirs.safetensors --json | jq -c '.files[].tensors[] | select(.quantized) | [.name, .quantized, (.stored_parts | map(.part))]'
dtinfo compare theirs.safetensors numbers.safetensors
dtinfo check theirs.safetensors
dtinfo quant theirs.safetensors fp32 --dequant -o back.safetensors
dtinfo compare back.safetensors numbers.safetensors
dtinfo inspect back.safetensors --json | jq -c '.files[].metadata'
dtinfo quant theirs.safetensors bf16 --dequant -o some.safetensors --keep 'a.*' -q
dtinfo inspect some.safetensors | sed -n 1,8p
