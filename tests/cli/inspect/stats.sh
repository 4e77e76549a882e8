python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo inspect --stats model.safetensors
