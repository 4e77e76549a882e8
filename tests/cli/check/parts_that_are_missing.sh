# the tensor is named, and what it lacks: a map of bitsandbytes, a type that ggml defines
python3 "$MAKERS/make_bitsandbytes.py" map.safetensors -quant_map
dtinfo check map.safetensors --quantized --json | jq -c ".files[].assertions[1].failures[] | {tensor, detail, rule, remedy}"
python3 "$MAKERS/make_checkpoint.py" . --unknown
dtinfo check model.gguf --quantized; echo "exit $?"
