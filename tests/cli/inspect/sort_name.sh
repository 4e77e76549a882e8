python3 "$MAKERS/make_checkpoint.py" . --single --layers 12
dtinfo inspect -q model.safetensors --sort name --grep input
