# What GPTQModel and AutoAWQ packed; the numbers are their own. Groups in an order of their own, words filled in part.
for name in gptq gptq_numbers awq awq_numbers; do cp "$TESTS/../data/$name.safetensors" .; done
say() { echo "{\"quantization_config\": {$1}}" > config.json; }
say '"quant_method": "gptq", "checkpoint_format": "gptq"'
dtinfo inspect gptq.safetensors
dtinfo inspect gptq.safetensors --json | jq -c '.files[].tensors[] | select(.quantized) | [.name, .quantized, (.stored_parts | map(.part))]'
dtinfo inspect gptq.safetensors --stats --width 100
dtinfo compare gptq.safetensors gptq_numbers.safetensors
dtinfo check gptq.safetensors
dtinfo mem gptq.safetensors bf16
dtinfo quant gptq.safetensors fp32 --dequant -o back.safetensors -v
dtinfo compare back.safetensors gptq_numbers.safetensors
dtinfo quant gptq.safetensors bf16 --dequant -o some.safetensors --keep 'four*,odd.scales' -q
dtinfo inspect some.safetensors -q
# Parts are kept unchanged; inspect --raw has a note.
dtinfo quant gptq.safetensors int8 -o again.safetensors | grep kept
dtinfo inspect gptq.safetensors --raw | grep note
say '"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm"'
dtinfo inspect awq.safetensors
dtinfo quant awq.safetensors fp16 --dequant -o awq16.safetensors -q
dtinfo compare awq16.safetensors awq_numbers.safetensors
echo "# configurations of their own"
rm config.json
echo '{"w_bit": 4, "q_group_size": 32, "version": "GEMM", "zero_point": true}' > quant_config.json
dtinfo inspect awq.safetensors -q
echo '{"w_bit": 4, "q_group_size": 32, "version": "GEMV"}' > quant_config.json
dtinfo inspect awq.safetensors --limit 0
rm quant_config.json
echo '{"bits": 4, "group_size": 128, "is_marlin_format": false}' > quantize_config.json
dtinfo inspect gptq.safetensors | tail -n 2
rm quantize_config.json
echo "# notes"
show() { python3 "$MAKERS/make_gptq.py" w.safetensors "$@" && dtinfo inspect w.safetensors | grep -E 'w.weight|note:'; }
v1='{"quant_method": "gptq", "bits": 4, "group_size": 32}'
v2='{"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq_v2"}'
show "$v1" qzeros=I32:2,4:119
show "$v1" qzeros=I32:2,4:136
show "$v2" qzeros=I32:2,4:136
show "$v2" qzeros=I32:2,4:119
show qzeros=I32:2,4:119
show qzeros=I32:2,4:136
show "$v1" qzeros=I32:2,4:240
show "$v2" qzeros=I32:2,4:240
dtinfo inspect w.safetensors --json | jq -c '.files[].notes'
show "$v1" qzeros=I32:2,4:240
dtinfo inspect w.safetensors --json | jq -c '.files[].notes'
dtinfo quant w.safetensors fp32 --dequant -o out.safetensors
for packing in auto_round auto_round:gptqmodel auto_round:auto_gptq auto_round:other; do
    show "{\"quant_method\": \"auto-round\", \"bits\": 4, \"group_size\": 32, \"packing_format\": \"$packing\"}"
done
