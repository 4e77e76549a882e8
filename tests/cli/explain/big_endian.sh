# codes that differ, in big-endian files
python3 - <<'P'
import struct
def npy(path, descr, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (4,), }" % descr
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data)
npy("a.npy", ">f4", struct.pack(">4f", 1, 2, 3, 4))
npy("b.npy", ">f4", struct.pack(">4f", 1, 2, 3.5, 4))
npy("c.npy", ">u2", struct.pack(">4H", 1, 2, 0x1234, 4))
npy("d.npy", ">u2", struct.pack(">4H", 1, 2, 0x1233, 4))
P
dtinfo explain a.npy b.npy
dtinfo explain c.npy d.npy
exit 0
