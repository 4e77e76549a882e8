# needs matmul
# Vectors from files, as matrices of one row and one column.
python3 - <<'END'
import struct
text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
text += " " * (-(len(text) + 11) % 64) + "\n"
open("v.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + struct.pack("<3f", 1e5, 0.1, -3))
END
dtinfo bench matmul --a v.npy --b v.npy --dtype fp64 --engine dtinfo --threads 1 --time 0.01 --json |
    jq -c '.results[] | .m, .n, .k, (.candidates[] | select(.role == "matmul") | .exact_sum)'
