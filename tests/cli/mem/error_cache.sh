# what is not known of a cache is an error
exec 2>&1
ask() { dtinfo mem "$@"; echo "exit $?"; }
printf '{"model_type": "brandnew", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4}' > config.json
ask config.json
ask config.json --context 1k
ask config.json --context 1k --kv-like llama
ask config.json --context 1k --kv-like llama --kv-dtype fp8
ask config.json --context 1k --kv-like lama
ask config.json --batch 2 --kv-like llama --kv-dtype bf16
printf '{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4}' > config.json
ask config.json --context 1k
ask config.json --context 1g
ask config.json --context 1k --train adam
ask 7B --context 1k
python3 "$MAKERS/make_checkpoint.py" . --single
rm config.json
ask model.safetensors --context 1k
exit 0
