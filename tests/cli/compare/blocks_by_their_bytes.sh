# unknown types of gguf: not read as numbers, compared as they are stored
python3 "$TESTS/make_checkpoint.py" . --others
python3 - <<'END'
import pathlib
path = pathlib.Path("model.gguf")
data = bytearray(path.read_bytes())
data[data.index(b"ffn_up.weight") + 33] = 43   # a type that ggml does not have
path.write_bytes(data)
END
cp model.gguf other.gguf
size=$(wc -c < other.gguf)
printf '\001' | dd of=other.gguf bs=1 seek=$((size - 200)) conv=notrunc 2>/dev/null
dtinfo compare model.gguf model.gguf -v
dtinfo compare model.gguf other.gguf; echo "exit $?"
