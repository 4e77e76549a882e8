python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo check model.safetensors --only '*.wieght'
