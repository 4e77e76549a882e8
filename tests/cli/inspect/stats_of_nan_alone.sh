# a file without a finite number has no mean
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
nan, inf = float("nan"), float("inf")
pathlib.Path("x.safetensors").write_bytes(safetensors([tensor("a", "F32", [2], [nan, nan]), tensor("b", "F32", [3], [inf, nan, inf])]))
P
dtinfo inspect --stats x.safetensors
