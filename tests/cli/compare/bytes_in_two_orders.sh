# the same bytes in two byte orders are not the same numbers, whichever file is read
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import gguf
data = b"\0\x3c\0\x38" + bytes(range(140))
for name, order in (("little", "<"), ("big", ">")):
    pathlib.Path(name + ".gguf").write_bytes(gguf([("general.architecture", "string", "x")], [("w", 12, [1, 256], data)], order=order))
P
dtinfo compare little.gguf big.gguf; echo "exit $?"
dtinfo compare big.gguf little.gguf -q; echo "exit $?"
dtinfo compare big.gguf big.gguf; echo "exit $?"
dtinfo explain little.gguf big.gguf; echo "exit $?"
