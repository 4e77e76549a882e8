python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo compare model.safetensors model.safetensors --map hf-gguf
