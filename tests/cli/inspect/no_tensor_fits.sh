python3 "$TESTS/make_checkpoint.py" . --single
dtinfo inspect model.safetensors --only nothing
