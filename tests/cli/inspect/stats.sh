python3 "$TESTS/make_checkpoint.py" . --single
dtinfo inspect --stats model.safetensors
