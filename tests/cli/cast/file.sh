python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo cast model/model.safetensors bf16 -o bf16.safetensors --keep '*norm*'
dtinfo cast model/model.safetensors fp8_e4m3fn -o fp8.safetensors --only '*.0.*' -v --threads 2 | grep -v level
ls
