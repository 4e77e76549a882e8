# keys that the rows of q and k are ordered by, as texts
python3 "$MAKERS/make_language_model.py" tiny
exec 2>&1
for key in block_count attention.head_count attention.head_count_kv; do
    dtinfo cast tiny bf16 -o new.gguf -q --set "llama.$key:str=1"; echo "exit $?"
done
ls
