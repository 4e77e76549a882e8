# Windows only from max_window_layers on (qwen2), and in all layers where the model has no such member (qwen3_moe).
for type in qwen2 qwen3_moe; do
    printf '{"model_type": "%s", "dtype": "bfloat16", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 4, "num_key_value_heads": 2,
     "use_sliding_window": true, "sliding_window": 256, "max_window_layers": 3}' $type > config.json
    dtinfo mem config.json --context 1k -v
done
