python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
nan = float("nan")
def write(name, **tensors):
    pathlib.Path(name).write_bytes(safetensors([tensor(key, "F32", [len(values)], values) for key, values in tensors.items()]))
write("a.safetensors", u=[nan, 1], v=[nan, nan], w=[70000])
write("b.safetensors", u=[1])
P
check() { dtinfo check "$@" --no-nan --fits fp16; echo "exit $?"; }
dtinfo check a.safetensors b.safetensors --no-nan --fits fp16 --json > known.json
check ./a.safetensors b.safetensors --baseline known.json
for form in junit github; do check a.safetensors --baseline known.json --format $form; done
check a.safetensors --baseline known.json --format sarif | grep -o '"results.*'
check a.safetensors --baseline known.json --json | grep -o -e '"ok":[a-z]*' -e '"outcome":"[a-z]*"' -e '"known":[a-z]*'
echo "new ones fail, with other figures known ones do not, and what is gone is told:"
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
nan = float("nan")
pathlib.Path("a.safetensors").write_bytes(safetensors([
    tensor("u", "F32", [3], [nan, nan, nan]), tensor("a", "F32", [1], [nan]), tensor("w", "F32", [1], [-80000])]))
P
check a.safetensors b.safetensors --baseline known.json 2>&1
check a.safetensors --baseline known.json -v 2>&1
for form in junit github; do check a.safetensors --baseline known.json --format $form -q; done
check a.safetensors --baseline known.json --format sarif -q | grep -o '"results.*'
check a.safetensors --baseline known.json --json | grep -o '"warnings.*'
echo "of files and assertions that are not checked nothing is gone:"
dtinfo check b.safetensors --baseline known.json; dtinfo check a.safetensors --no-inf --baseline known.json
echo "each covers one:"
dtinfo check a.safetensors a.safetensors --fits fp16 --baseline known.json
