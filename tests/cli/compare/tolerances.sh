python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("a.safetensors").write_bytes(safetensors([
    tensor("w", "F32", [2, 2], [1, 2, 3, 4]), tensor("i", "I32", [2], [1, 2])]))
pathlib.Path("b.safetensors").write_bytes(safetensors([
    tensor("w", "F32", [2, 2], [1, 2, 3.5, 4]), tensor("i", "I32", [2], [1, 2])]))
pathlib.Path("c.safetensors").write_bytes(safetensors([
    tensor("w", "F32", [2, 2], [1, 2, 3 + 2 ** -22, 4]), tensor("i", "I32", [2], [1, 3])]))
P
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
for name, number in (("n", float("nan")), ("o", 1)):
    pathlib.Path(name + ".safetensors").write_bytes(safetensors([
        tensor("w", "F32", [2], [1, number])]))
P
try() { dtinfo compare "$@" | sed -n 1p; dtinfo compare -q "$@"; echo "exit $?"; }
try a.safetensors b.safetensors --atol 0.5
try a.safetensors b.safetensors --atol 0.499
try a.safetensors b.safetensors --rtol 1/7
try a.safetensors b.safetensors --rtol 0.14
try a.safetensors b.safetensors --atol 0.25 --rtol 0.0714285714285714285714285714
try a.safetensors b.safetensors --atol 0.25 --rtol 0.072
try a.safetensors c.safetensors --only w --max-ulp 1
try a.safetensors c.safetensors --only w --max-ulp 0.5
try a.safetensors c.safetensors --only i --max-ulp 1
try a.safetensors c.safetensors --only i --atol 1
try a.safetensors c.safetensors --only i --atol 1 --max-ulp 1
try a.safetensors b.safetensors --atol inf
try a.safetensors a.safetensors --atol 0 --max-ulp 0
try n.safetensors o.safetensors --max-ulp 1e300
try n.safetensors o.safetensors --atol inf
try n.safetensors n.safetensors --max-ulp 0
