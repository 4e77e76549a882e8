# unknown types of gguf: not read as numbers, compared as they are stored
python3 "$MAKERS/make_checkpoint.py" . --unknown
cp model.gguf other.gguf
size=$(wc -c < other.gguf)
printf '\001' | dd of=other.gguf bs=1 seek=$((size - 200)) conv=notrunc 2>/dev/null
dtinfo compare model.gguf model.gguf -v
dtinfo compare model.gguf other.gguf; echo "exit $?"
