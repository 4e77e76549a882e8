# elements in another order: rows of rope, a transposed matrix, swapped nibbles; and what is not
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import normals, safetensors, tensor
rows = [normals(4, i) for i in range(64)]
flat = lambda x: [number for row in x for number in row]
paired = [rows[i // 32 * 32 + i % 2 * 16 + i % 32 // 2] for i in range(64)]
norm = tensor("norm", "F32", [4], normals(4, 99))
pathlib.Path("a.safetensors").write_bytes(safetensors([
    tensor("q", "F32", [64, 4], flat(rows)), tensor("w", "F32", [3, 4], flat(rows[:3])), norm, tensor("x", "F32", [64, 4], flat(rows))]))
pathlib.Path("b.safetensors").write_bytes(safetensors([
    tensor("q", "F32", [64, 4], flat(paired)), tensor("w", "F32", [4, 3], flat(zip(*rows[:3]))), norm,
    tensor("x", "F32", [64, 4], flat(normals(4, i + 200) for i in range(64)))]))
P
dtinfo explain a.safetensors b.safetensors; echo "exit $?"
dtinfo explain a.safetensors b.safetensors --json > recipes.json
dtinfo verify a.safetensors b.safetensors --recipe recipes.json; echo "exit $?"
printf '{"recipe": "kept", "tensors": [{"name": "q", "recipe": "kept; rope pairs adjacent, heads of 16"}]}' > wrong.json
dtinfo verify a.safetensors b.safetensors --recipe wrong.json; echo "exit $?"
printf '{"recipe": "kept; sideways"}' > wrong.json
dtinfo verify a.safetensors b.safetensors --recipe wrong.json; echo "exit $?"
