# Layers of ComfyUI; the numbers are those of its own library. One of them is nvfp4 in the shapes of ModelOpt.
cp "$TESTS/../data/comfy.safetensors" theirs.safetensors
cp "$TESTS/../data/comfy_numbers.safetensors" numbers.safetensors
dtinfo inspect theirs.safetensors
dtinfo inspect theirs.safetensors --json | jq -c '.files[].tensors[] | select(.quantized) | [.name, .quantized, (.stored_parts | map(.part))]'
dtinfo compare theirs.safetensors numbers.safetensors
dtinfo check theirs.safetensors
dtinfo quant theirs.safetensors fp32 --dequant -o back.safetensors
dtinfo compare back.safetensors numbers.safetensors
