# Rotated integers of ComfyUI, made by its own library: the rotation is undone, so the weights come near what they were made of.
cp "$TESTS/../data/convrot.safetensors" theirs.safetensors
cp "$TESTS/../data/convrot_numbers.safetensors" numbers.safetensors
dtinfo inspect theirs.safetensors
dtinfo inspect theirs.safetensors --json | jq -c '.files[].tensors[] | [.name, .quantized.format, .quantized.per, .quantized.rotation]'
dtinfo compare theirs.safetensors numbers.safetensors
dtinfo check theirs.safetensors
dtinfo quant theirs.safetensors fp32 --dequant -o back.safetensors
dtinfo compare back.safetensors theirs.safetensors
dtinfo transcode theirs.safetensors --to gptq -o other.safetensors
dtinfo transcode theirs.safetensors --to gptq --to bf16 -o other.safetensors
