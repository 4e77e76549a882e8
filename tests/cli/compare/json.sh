python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("a.safetensors").write_bytes(safetensors([
    tensor("w", "F32", [2, 2], [1, 2, 3, 4]), tensor("left", "F32", [1], [1])]))
pathlib.Path("b.safetensors").write_bytes(safetensors([tensor("w", "F16", [2, 2], [1, 2, 3.5, 4])]))
P
dtinfo compare a.safetensors b.safetensors --json --atol 0.5; echo "exit $?"
