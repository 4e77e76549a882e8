python3 "$MAKERS/make_checkpoint.py" . --single --layers 3
dtinfo inspect --tree model.safetensors
