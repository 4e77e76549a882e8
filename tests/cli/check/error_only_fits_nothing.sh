python3 "$TESTS/make_checkpoint.py" . --single
dtinfo check model.safetensors --only '*.wieght'
