python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo inspect -q model.safetensors --sort offset --only '*norm*'
