# who does not know what a stack stores says in which tensor
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("m.safetensors").write_bytes(safetensors(
    [tensor("a", "F32", [2], [1, 2]), tensor("b", "F32", [2], [1, float("nan")])]))
P
dtinfo cast m.safetensors bf16 -o out.safetensors --like torch || echo "exit $?"
dtinfo cast m.safetensors bf16 --as text --select b --like torch || echo "exit $?"
ls
