python3 "$MAKERS/make_checkpoint.py" . --hostile
dtinfo mem hostile.safetensors hostile.npz hostile.gguf bf16 -v
