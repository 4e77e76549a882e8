# tensors that share a recipe are made together: of two differences the one of the recipe that comes first is reported
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("a.safetensors").write_bytes(safetensors([tensor(name, "F32", [2], number) for name, number in zip("abc", ([1, 2], [1 / 3, 1], [1, 2 / 3]))]))
P
dtinfo cast a.safetensors bf16 --round zero -o b.safetensors -q
echo '{"tensors": [{"name": "a", "recipe": "cast bf16"}, {"name": "b", "recipe": "cast bf16 --round up"}, {"name": "c", "recipe": "cast bf16"}]}' > r.json
dtinfo verify a.safetensors b.safetensors --recipe r.json
