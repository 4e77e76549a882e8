python3 "$MAKERS/make_checkpoint.py" . --single
head -c 5000 model.safetensors > cut.safetensors
dtinfo inspect cut.safetensors
