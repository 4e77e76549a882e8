python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo inspect --histogram model.safetensors --only 'lm_head*'
