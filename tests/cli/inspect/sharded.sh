python3 "$TESTS/make_checkpoint.py" .
dtinfo inspect model.safetensors.index.json
