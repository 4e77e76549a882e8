python3 "$TESTS/make_checkpoint.py" . --single
dtinfo compare model.safetensors model.safetensors --only '*.wieght'
