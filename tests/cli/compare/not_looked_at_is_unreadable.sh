# A type that is not read leaves the question open: exit 3. Bytes answer it where they are the same.
python3 - <<'EOF'
import struct
def raw(name, descr, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }".ljust(119) % descr + "\n"
    open(name, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data)
raw("void.npy", "|V2", b"\x80\x3f\0\0")
raw("other.npy", "|V2", b"\x81\x3f\0\0")
raw("half.npy", "<f2", b"\0\0\0\0")
EOF
try() { dtinfo compare "$@"; echo "exit $?"; }
try void.npy half.npy
try void.npy void.npy
try void.npy other.npy
try void.npy other.npy --rtol 0.1
try void.npy other.npy --rtol 0.1 --assume bf16
try void.npy half.npy -q
try void.npy half.npy --json
