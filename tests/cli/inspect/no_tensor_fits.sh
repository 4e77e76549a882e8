python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo inspect model.safetensors --only nothing
