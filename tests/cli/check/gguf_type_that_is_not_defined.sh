python3 - "$MAKERS" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import make_checkpoint
with open("odd.gguf", "wb") as file:
    file.write(make_checkpoint.gguf([], [("a", 4, (32,), bytes(20)), ("b", "F32", (2,), bytes(8))]))
END
dtinfo check odd.gguf
