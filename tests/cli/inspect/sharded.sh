python3 "$MAKERS/make_checkpoint.py" .
dtinfo inspect model.safetensors.index.json
