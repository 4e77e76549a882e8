# every kind of difference: numbers, dtypes, NaN, shapes, types, tensors of one file alone
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
nan, inf = float("nan"), float("inf")
pathlib.Path("a.safetensors").write_bytes(safetensors([
    tensor("same", "F32", [4], [1, 2, 3, 4]),
    tensor("narrow", "F32", [2, 3], [1, 0.1, -0.3, 70000, 1e-3, 0]),
    tensor("special", "F32", [5], [nan, nan, inf, inf, 1]),
    tensor("zero", "F32", [2], [0.0, -0.0]),
    tensor("ids", "I64", [3], [1, 2, 1 << 62]),
    tensor("mixed", "I64", [2], [1, (1 << 53) + 1]),
    tensor("turned", "F32", [2, 3], [1, 2, 3, 4, 5, 6]),
    tensor("none", "F32", [0, 7], []),
    tensor("left.one", "F32", [1], [1]),
    tensor("left.two", "BF16", [2, 2], [1, 2, 3, 4])]))
pathlib.Path("b.safetensors").write_bytes(safetensors([
    tensor("right", "F16", [], [1]),
    tensor("none", "F32", [0, 7], []),
    tensor("turned", "F32", [3, 2], [1, 2, 3, 4, 5, 6]),
    tensor("mixed", "F64", [2], [1, float(1 << 53)]),
    tensor("ids", "I64", [3], [1, 3, (1 << 62) - 5]),
    tensor("zero", "F32", [2], [-0.0, 0.0]),
    tensor("special", "F32", [5], [nan, 1, inf, -inf, 1.5]),
    tensor("narrow", "BF16", [2, 3], [1, 0.1, -0.3, 70000, 1e-3, 0]),
    tensor("same", "F32", [4], [1, 2, 3, 4])]))
P
dtinfo compare a.safetensors b.safetensors; echo "exit $?"
dtinfo compare a.safetensors b.safetensors -v; echo "exit $?"
dtinfo compare b.safetensors a.safetensors --only 'narrow,special' --top 1; echo "exit $?"
dtinfo compare a.safetensors b.safetensors -q; echo "exit $?"
