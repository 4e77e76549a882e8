python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo mem model.safetensors
dtinfo mem model.safetensors mxfp4,nvfp4 --keep '*norm*' -v
dtinfo mem model.safetensors bf16 -q
