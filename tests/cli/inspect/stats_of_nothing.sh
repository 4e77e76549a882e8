# no tensors, no table
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("none.safetensors").write_bytes(safetensors([]))
pathlib.Path("one.safetensors").write_bytes(safetensors([tensor("a", "F32", [1], [1])]))
pathlib.Path("two.safetensors").write_bytes(
    safetensors([tensor("a", "F32", [1], [1]), tensor("b", "F32", [1], [1])]))
P
dtinfo inspect none.safetensors --stats
dtinfo compare one.safetensors two.safetensors --ignore-missing
