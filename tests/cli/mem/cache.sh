# the cache of a model: from config.json alone, and of a checkpoint next to it
cat > config.json <<'END'
{"model_type": "gemma3", "torch_dtype": "bfloat16", "text_config": {"model_type": "gemma3_text", "head_dim": 128, "hidden_size": 5376,
 "num_attention_heads": 32, "num_hidden_layers": 62, "num_key_value_heads": 16, "sliding_window": 1024}}
END
dtinfo mem config.json --context 128k -v
dtinfo mem config.json --context 32k --batch 4 --kv-dtype bf16,fp8_e4m3fn,q4_0 --fit 24GiB
cat > config.json <<'END'
{"model_type": "qwen3_next", "dtype": "bfloat16", "hidden_size": 2048, "head_dim": 256, "num_attention_heads": 16, "num_hidden_layers": 48,
 "num_key_value_heads": 2, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
 "linear_num_value_heads": 32, "linear_value_head_dim": 128, "max_position_embeddings": 262144}
END
dtinfo mem config.json --batch 2 -v
cat > config.json <<'END'
{"model_type": "deepseek_v3", "num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "torch_dtype": "bfloat16"}
END
python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo mem . --context 4k --kv-dtype fp8 -v --only '*norm*'
dtinfo mem model.safetensors bf16,mxfp4 --context 4k --kv-dtype bf16,q8_0 -q
