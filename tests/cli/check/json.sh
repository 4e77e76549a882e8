python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("m.safetensors").write_bytes(safetensors([
    tensor("w", "F32", [2, 2], [1, 2, 70000, float("nan")]), tensor("i", "I64", [1], [5])]))
P
dtinfo check m.safetensors --json --valid --no-nan --fits fp16 --dtype fp32; echo "exit $?"
