# Key-values are written little-endian, so that those of a big-endian file cannot be changed.
cat > make.py <<'END'
import sys
sys.path.insert(0, sys.argv[1])
from make_checkpoint import gguf
open("big.gguf", "wb").write(gguf([("general.architecture", "string", "llama")], [("a", "F32", (32,), bytes(128))], order=">"))
END
python3 make.py "$MAKERS"
exec 2>&1
dtinfo cast big.gguf bf16 -o out.gguf; echo "exit $?"
dtinfo cast big.gguf bf16 -o out.gguf --set general.name=x; echo "exit $?"
ls
