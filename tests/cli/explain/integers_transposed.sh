# a transposed matrix of integers that was cast, too
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
rows = [[x * x - 7 * y for x in range(4)] for y in range(3)]
pathlib.Path("a.safetensors").write_bytes(safetensors([tensor("w", "I32", [3, 4], sum(rows, []))]))
pathlib.Path("b.safetensors").write_bytes(safetensors([tensor("w", "F32", [4, 3], sum(zip(*rows), ()))]))
P
dtinfo explain a.safetensors b.safetensors
dtinfo explain a.safetensors b.safetensors --json > r.json
dtinfo verify a.safetensors b.safetensors --recipe r.json
