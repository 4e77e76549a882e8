python3 "$TESTS/make_checkpoint.py" . --others
python3 - <<'END'
import pathlib
path = pathlib.Path("model.gguf")
data = bytearray(path.read_bytes())
data[data.index(b"ffn_up.weight") + 33] = 43   # a type that ggml does not have
path.write_bytes(data)
END
dtinfo check model.gguf --no-nan --fits bf16; echo "exit $?"
dtinfo check model.gguf --no-nan --only '*norm*,token*'; echo "exit $?"
