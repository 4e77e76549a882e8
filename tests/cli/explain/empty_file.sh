# files without tensors: the first, the second, both
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("none.safetensors").write_bytes(safetensors([]))
pathlib.Path("one.safetensors").write_bytes(safetensors([tensor("w", "F32", [1], [1])]))
P
for pair in none:one one:none none:none; do
    dtinfo explain ${pair%:*}.safetensors ${pair#*:}.safetensors; echo "exit $?"
done
