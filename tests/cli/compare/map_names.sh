python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
def names(path, *list_):
    pathlib.Path(path).write_bytes(safetensors([tensor(name, "F32", [2], [1, i + 2]) for i, name in enumerate(list_)]))
names("a.safetensors", "layers.0.q", "layers.0.k", "norm")
names("b.safetensors", "blk.0.attn_q", "blk.0.attn_k", "out.norm", "more")
P
printf '%s\n' '# names of a in b' '' 'layers\.(\d+)\.(q|k|v)  ->  blk.\1.attn_\2' > names.txt
printf 'norm\tout.norm\n' >> names.txt
dtinfo compare a.safetensors b.safetensors --map names.txt; echo "exit $?"
dtinfo compare b.safetensors a.safetensors --map names.txt --ignore-missing; echo "exit $?"
dtinfo compare a.safetensors b.safetensors --map names.txt --only 'layers.*'; echo "exit $?"
dtinfo compare a.safetensors b.safetensors --map names.txt --json --only '*norm' | python3 "$TESTS/json_members.py" .options.map '.tensors[0].a.name' '.tensors[0].b.name' '.tensors[0].heads' '.tensors[0].plus_one'
echo 'layers\.0\.(.*) -> blk.0.attn_q' > twice.txt
dtinfo compare a.safetensors b.safetensors --map twice.txt; echo "exit $?"
