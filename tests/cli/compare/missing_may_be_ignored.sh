python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
both = [tensor("w", "F32", [1], [1]), tensor("v", "F32", [1], [1])]
pathlib.Path("a.safetensors").write_bytes(safetensors(both + [tensor("tied", "F32", [1], [1])]))
pathlib.Path("b.safetensors").write_bytes(safetensors(both))
P
dtinfo compare a.safetensors b.safetensors; echo "exit $?"
dtinfo compare a.safetensors b.safetensors --ignore-missing; echo "exit $?"
