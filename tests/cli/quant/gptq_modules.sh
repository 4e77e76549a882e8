# Modules with widths and groups of their own, by GPTQ's "dynamic"; AWQ's modules that are not quantized.
for name in gptq gptq_numbers awq; do cp "$TESTS/../data/$name.safetensors" .; done
say() { echo "{\"quantization_config\": {$1}}" > config.json; }
gptq='"quant_method": "gptq", "checkpoint_format": "gptq", "bits": 4, "group_size": 32'
others='"+:eight": {"bits": 8}, "three": {"bits": 3, "group_size": 64}, "two": {"bits": 2}'
say "$gptq, \"dynamic\": {$others, \"o(dd)\": {\"group_size\": 20}, \"order\": {\"group_size\": 16}}"
dtinfo compare gptq.safetensors gptq_numbers.safetensors
say "$gptq, \"dynamic\": {$others, \"odd\": {\"group_size\": 20}}"
dtinfo quant gptq.safetensors fp32 --dequant -o no.safetensors; echo "exit $?"
say "$gptq, \"dynamic\": {\"-:fo\": {}, $others}"
dtinfo quant gptq.safetensors fp32 --dequant -o no.safetensors; echo "exit $?"
dtinfo quant gptq.safetensors fp32 --dequant -o some.safetensors --keep 'four*,o*' -q; echo "exit $?"
first=$(dtinfo inspect awq.safetensors --raw --json | jq -r '[.files[].tensors[].name | select(endswith(".qweight"))][0] | rtrimstr(".qweight")')
say "\"quant_method\": \"AWQ\", \"bits\": 4, \"group_size\": 32, \"version\": \"gemm\", \"modules_to_not_convert\": [\"$first\"]"
dtinfo quant awq.safetensors fp32 --dequant -o no.safetensors; echo "exit $?"
