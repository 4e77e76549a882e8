python3 "$MAKERS/make_checkpoint.py" model
dtinfo cast model bf16 --dry-run --ints
dtinfo cast model bf16 --dry-run -o new/ -v --select '*norm*'
dtinfo cast model bf16 --dry-run -o - --as safetensors
dtinfo cast model bf16 --dry-run -o x.npy --select lm_head.weight --json
dtinfo cast model bf16 --dry-run -o x.txt --as text --select lm_head.weight
ls
