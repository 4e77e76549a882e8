python3 "$TESTS/make_checkpoint.py" . --single
dtinfo inspect -v model.safetensors --only '*norm*'
