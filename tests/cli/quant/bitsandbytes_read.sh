# What bitsandbytes wrote: blocks of 32 to 4096, codes stored as bf16, nested scales; the numbers are its own.
theirs="$TESTS/../data/bitsandbytes.safetensors" numbers="$TESTS/../data/bitsandbytes_numbers.safetensors"
cp "$theirs" theirs.safetensors && cp "$numbers" numbers.safetensors
dtinfo inspect theirs.safetensors
dtinfo inspect theirs.safetensors --json | jq -c '.files[].tensors[] | select(.quantized) | [.name, .quantized, (.stored_parts | map(.part))]'
dtinfo inspect theirs.safetensors --stats --width 100
dtinfo compare theirs.safetensors numbers.safetensors
dtinfo check theirs.safetensors
dtinfo mem theirs.safetensors bf16
dtinfo quant theirs.safetensors fp32 --dequant -o back.safetensors -v
dtinfo compare back.safetensors numbers.safetensors
dtinfo quant theirs.safetensors bf16 --dequant -o some.safetensors --keep 'fp4*' --quant-only '*n*' -q --allow-unmatched
dtinfo inspect some.safetensors | sed -n 1,10p
# Codes stored as floats are not treated as floats.
dtinfo cast theirs.safetensors fp16 -o cast.safetensors
dtinfo quant theirs.safetensors int8 -o again.safetensors | grep kept
dtinfo quant theirs.safetensors fp32 --dequant --layout modelopt -o no.safetensors; echo "exit $?"
