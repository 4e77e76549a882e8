# unsigned codes with a symmetric scale: the rule of the scale says so, and needs no second word
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import normals, safetensors, tensor
pathlib.Path("a.safetensors").write_bytes(safetensors([tensor("w", "F32", [8, 64], normals(512))]))
P
dtinfo quant a.safetensors uint4 --block 8 --symmetry half -o b.safetensors -q
dtinfo explain a.safetensors b.safetensors
