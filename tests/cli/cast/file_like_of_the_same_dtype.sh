# no stack touches what has the dtype already, a NaN included
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("m.safetensors").write_bytes(safetensors(
    [tensor("a", "F32", [2], [1, 2]), tensor("b", "BF16", [2], [1, float("nan")])]))
P
dtinfo cast m.safetensors bf16 -o out.safetensors --like torch
