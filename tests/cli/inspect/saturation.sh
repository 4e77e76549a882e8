python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import normals, safetensors, tensor
pathlib.Path("a.safetensors").write_bytes(safetensors([
    tensor("w", "F32", [4, 64], normals(192, 1) + [0.0] * 64), tensor("v", "F32", [2, 32], normals(64, 2)), tensor("norm", "F32", [4], [1, 2, 3, 4])]))
P
dtinfo quant a.safetensors nvfp4 --keep norm -o q.safetensors -q
dtinfo inspect q.safetensors --saturation
dtinfo quant a.safetensors int8 --keep norm -o i.safetensors -q
dtinfo inspect i.safetensors --saturation --stats | head -n 12
dtinfo inspect q.safetensors --saturation --json | python3 "$TESTS/json_members.py" '.files[0].tensors[0].saturation' '.files[0].tensors[2].saturation' '.files[0].saturation'
dtinfo inspect a.safetensors --saturation | head -n 2
