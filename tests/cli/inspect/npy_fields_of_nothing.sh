# A field whose type is a list without fields takes no bytes.
python3 -c '
import struct
for name, fields in (("one", "(\"x\", \"<f4\"), (\"e\", []), (\"y\", \"<f4\")"), ("three", "(\"x\", \"<f4\"), (\"e\", [], (3,)), (\"y\", \"<f4\")"),
                     ("inner", "(\"x\", \"<f4\"), (\"y\", [(\"z\", \"<f4\"), (\"e\", [])])")):
    head = ("{\"descr\": [%s], \"fortran_order\": False, \"shape\": (2,)}" % fields).ljust(117) + "\n"
    open(name + ".npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<4f", 1, 2, 3, 4))'
for name in one three inner; do
    dtinfo inspect $name.npy --stats 2>&1 | head -n 4
done
