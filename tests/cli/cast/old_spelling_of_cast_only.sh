# --only is the old name of --cast-only: the same work, and messages use the new name
python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo cast model/model.safetensors bf16 --dry-run -v --cast-only '*norm*' >new
dtinfo cast model/model.safetensors bf16 --dry-run -v --only '*norm*' >old
cmp old new && grep -c 'not in --cast-only' new
dtinfo cast 1 bf16 --only x
dtinfo cast --help | grep -c -e --only
