python3 - <<'END'
import os, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import pack, safetensors
names = {"layers.%d.attn.weight" % i: ("F32", [2, 2]) for i in range(5)}
names["layers.2.attn.weight"] = ("BF16", [2, 2])
names.update({"layers.%d.experts.%d.w" % (i, k): ("F32", [3]) for i in (1, 2, 4) for k in range(4)})
names.update({"layers.%d.skip.%d" % (i, k): ("F32", []) for i, k in ((0, 1), (1, 0))})
names.update({"layers": ("F32", [1]), "a": ("F32", [1]), "a.b": ("F32", [1]), "..": ("F32", [1]),
              "v1.2x.3": ("I32", [1]), "0": ("F32", [1]), "1": ("F32", [1])})
tensors = []
for name, (dtype, shape) in names.items():
    count = 1
    for size in shape:
        count *= size
    tensors.append((name, dtype, shape, pack(dtype, [0] * count)))
open("x.safetensors", "wb").write(safetensors(tensors))
END
dtinfo inspect --tree x.safetensors
