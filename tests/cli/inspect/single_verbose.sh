python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo inspect -v model.safetensors --only '*norm*'
