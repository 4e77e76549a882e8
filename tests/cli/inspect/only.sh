python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo inspect model.safetensors --only 'model.layers.?.mlp.*,lm_head.weight'
