python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo cast model/model.safetensors bf16 -o a.safetensors --only 'none,*[x]' --keep 'esc*' --allow-unmatched
dtinfo cast model/model.safetensors bf16 -o b.safetensors --select '*position_ids'
dtinfo cast model/model.safetensors bf16 -o c.safetensors --select '*position_ids' -q
