# results have the rules of quantized checkpoints as ids
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("q.safetensors").write_bytes(safetensors([
    tensor("w.weight", "F8_E4M3", [2, 2], [1, 2, 3, 4]), tensor("w.weight_scale", "F32", [1], [float("nan")])]))
P
dtinfo check q.safetensors --quantized --format sarif | grep -o '"results.*'
dtinfo check q.safetensors --quantized --format junit
dtinfo check q.safetensors --quantized --format github
