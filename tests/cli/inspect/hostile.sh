python3 "$MAKERS/make_checkpoint.py" . --hostile
dtinfo inspect hostile.safetensors hostile.npz hostile.gguf
