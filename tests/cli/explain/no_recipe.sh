# what has no recipe, and why
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("a.safetensors").write_bytes(safetensors([
    tensor("gone", "F32", [1], [1]), tensor("scale", "F32", [2, 32], range(64)), tensor("shape", "F32", [2, 3], range(6)),
    tensor("w", "F32", [2, 32], range(64))]))
pathlib.Path("b.safetensors").write_bytes(safetensors([
    tensor("new", "F32", [1], [1]), tensor("scale", "I8", [2, 32], range(64)), tensor("scale_scale", "F16", [2, 1], [1, 1]),
    tensor("shape", "F32", [3, 2], range(6)), tensor("w", "I8", [2, 32], range(64)), tensor("w_scale", "F32", [2, 1], [1, 1]),
    tensor("w_zero_point", "F32", [2, 1], [0, 0])]))
P
dtinfo explain a.safetensors b.safetensors; echo "exit $?"
