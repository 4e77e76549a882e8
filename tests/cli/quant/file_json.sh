python3 "$MAKERS/make_checkpoint.py" model
dtinfo quant model int4 -o x.safetensors --select '*.0.mlp.down*,*.0.input_layernorm*' --keep '*norm*' --block 8 --affine --json
dtinfo quant model mxfp6_e3m2 --select '*.0.mlp.down*' --pad --nibble high --dry-run --jsonl
