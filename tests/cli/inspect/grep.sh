python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo inspect -q model.safetensors --grep '(q|k)_proj|^lm'
