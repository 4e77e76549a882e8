# What could not be read has not failed: exit 3. A failure beside it decides.
python3 "$MAKERS/make_checkpoint.py" . --unknown
python3 - <<'EOF'
import os, pickle, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import npy, pack
def raw(name, descr, data, count):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (descr, count)
    head = head.ljust(117) + "\n"
    open(name, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data)
raw("void.npy", "|V2", b"\x80\x3f\0\0", 2)
raw("objects.npy", "|O", pickle.dumps([1, None]), 2)
open("nan.npy", "wb").write(npy("<f4", (2,), pack("F32", [1.0, float("nan")])))
EOF
try() { dtinfo check "$@"; echo "exit $?"; }
try void.npy --no-nan --max-abs 1
try void.npy
try void.npy --no-nan --assume bf16
try objects.npy
try objects.npy --valid --no-nan --dtype fp32
try model.gguf --no-nan --valid
try nan.npy void.npy --no-nan -q
try void.npy nan.npy --no-nan -q
try void.npy --no-nan --json
