python3 "$MAKERS/make_checkpoint.py" . --single
LC_ALL=C.UTF-8 dtinfo inspect --histogram model.safetensors --only 'lm_head*'
