# the worst come first
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
for name, step in (("a", 0), ("b", 1)):
    pathlib.Path(name + ".safetensors").write_bytes(safetensors(
        [tensor("layer.%d" % i, "F32", [1], [100 + step * (i * 7 % 13)]) for i in range(13)]))
P
dtinfo compare a.safetensors b.safetensors
dtinfo compare a.safetensors b.safetensors --top 2
dtinfo compare a.safetensors b.safetensors --top 0; echo "exit $?"
