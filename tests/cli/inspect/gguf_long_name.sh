# names that fill whole blocks of memory: what is written after their ends is not theirs, which a sanitizer sees
python3 - "$MAKERS" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import make_checkpoint
with open("long.gguf", "wb") as file:
    file.write(make_checkpoint.gguf([("k" * 4096, "uint32", 1)], [("n" * 2048, "F32", (2,), bytes(8))]))
END
dtinfo inspect long.gguf --json | grep -o 'kk*\|nn*' | while read -r name; do test ${#name} -lt 2048 || echo ${#name}; done
