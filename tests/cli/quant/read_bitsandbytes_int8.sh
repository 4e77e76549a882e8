# Layers of 8 bits as bitsandbytes saves them; the numbers are its own.
cp "$TESTS/../data/bitsandbytes_int8.safetensors" theirs.safetensors
cp "$TESTS/../data/bitsandbytes_int8_numbers.safetensors" numbers.safetensors
dtinfo inspect theirs.safetensors
dtinfo inspect theirs.safetensors --json | jq -c '.files[].tensors[] | select(.quantized) | [.name, .quantized, (.stored_parts | map(.part))]'
dtinfo inspect theirs.safetensors --stats --width 100 | sed -n 1,9p
dtinfo compare theirs.safetensors numbers.safetensors
dtinfo check theirs.safetensors
dtinfo mem theirs.safetensors bf16
dtinfo quant theirs.safetensors fp32 --dequant -o back.safetensors
dtinfo compare back.safetensors numbers.safetensors
