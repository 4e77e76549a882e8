# the cache of a model as JSON
cat > config.json <<'END'
{"model_type": "lfm2", "dtype": "bfloat16", "hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 16, "num_key_value_heads": 8,
 "conv_L_cache": 3, "full_attn_idxs": [2, 5, 8, 10, 12, 14], "max_position_embeddings": 128000}
END
dtinfo mem config.json --context 32k --batch 4 --kv-dtype bf16,q8_0 --fit 1GB --json
