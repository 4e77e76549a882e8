# numbers that are equal, and bits that are not
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("a.safetensors").write_bytes(safetensors([
    tensor("w", "F32", [2], [1, 2]), tensor("z", "F32", [1], [0.0])]))
pathlib.Path("b.safetensors").write_bytes(safetensors([
    tensor("w", "BF16", [2], [1, 2]), tensor("z", "F32", [1], [-0.0])]))
P
dtinfo compare a.safetensors b.safetensors
dtinfo compare a.safetensors b.safetensors --bitwise; echo "exit $?"
dtinfo compare a.safetensors a.safetensors --bitwise
