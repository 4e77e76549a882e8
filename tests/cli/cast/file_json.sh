python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo cast model/model.safetensors fp8_e4m3fn -o out.safetensors --select '*q_proj*,*position_ids' --keep '*nrom*' --allow-unmatched --json --threads 1
