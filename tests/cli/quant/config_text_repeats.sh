# members that matter may not be repeated in text_config either; of the others nothing is read
python3 "$MAKERS/make_gptq.py" m.safetensors
quantization='"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq"}'
run() { echo "{$1}" > config.json; dtinfo quant m.safetensors fp32 --dequant -o out.safetensors -q --force; echo "exit $?"; }
run "\"text_config\": {$quantization, \"quantization_config\": {}}"
run "\"text_config\": {\"dtype\": \"fp16\", \"dtype\": \"bf16\", $quantization}"
run "\"text_config\": {\"other\": 1, \"other\": 2, $quantization}"
