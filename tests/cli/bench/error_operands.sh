# Operands from files: one line for each thing that is wrong with them.
python3 - <<'END'
import struct

def npy(path, descr, shape, raw):
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    text += " " * (-(len(text) + 11) % 64) + "\n"
    open(path, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + raw)

npy("v3.npy", "<f4", [3], struct.pack("<3f", 1, 2, 3))
npy("v4.npy", "<f4", [4], struct.pack("<4f", 1, 2, 3, 4))
npy("m.npy", "<f8", [2, 3], struct.pack("<6d", *range(6)))
npy("cube.npy", "<f8", [1, 2, 3], struct.pack("<6d", *range(6)))
npy("none.npy", "<f4", [0], b"")
npy("nan.npy", "<f2", [3], struct.pack("<3e", 1, 2, float("nan")))
npy("complex.npy", "<c8", [1], bytes(8))
npy("huge.npy", "<f8", [2], struct.pack("<2d", 1e300, 1))
npy("large.npy", "<f4", [2], struct.pack("<2f", 1e5, 1))
END
python3 "$MAKERS/make_checkpoint.py" . --others
while read -r words; do
    echo "$ bench $words"
    # shellcheck disable=SC2086
    dtinfo bench $words 2>&1; echo "    exit $?"
done <<'END'
dot --a v3.npy
matmul --b v3.npy
dot --a v3.npy --b v3.npy --size 3
dot --a v3.npy --b v4.npy
dot --a m.npy --b m.npy
matmul --a m.npy --b m.npy
matmul --a m.npy --b cube.npy
matmul --a v3.npy --b v4.npy
dot --a none.npy --b none.npy
dot --a v3.npy --b nan.npy
dot --a complex.npy --b v3.npy
dot --a missing.npy --b v3.npy
dot --a arrays.npz --b v3.npy
dot --a arrays.npz:nothing --b v3.npy
dot --a huge.npy --b huge.npy
dot --a large.npy --b large.npy --dtype fp16
expsin --a v3.npy --b v3.npy
cast fp32:bf16 --a v3.npy --b v3.npy
END
