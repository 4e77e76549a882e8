# codes of 4 bits, one a byte as numpy stores them, with the scales of mxfp4 next to them
python3 - <<'P'
import struct
def npy(path, descr, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data)
codes = [(5 * i + i // 16) % 16 for i in range(64)]
npy("w.npy", "|V1", (2, 32), bytes(codes))
npy("w_scale.npy", "|u1", (2, 1), bytes((128, 126)))
numbers = [0.0, 0.5, 1, 1.5, 2, 3, 4, 6]
numbers += [-number for number in numbers]
npy("numbers.npy", "<f4", (2, 32), struct.pack("<64f", *(numbers[code] * (2, 0.5)[i // 32] for i, code in enumerate(codes))))
P
dtinfo quant w.npy fp32 --dequant --assume fp4_e2m1 -o made.npy
dtinfo compare made.npy numbers.npy --bitwise
