# Operands from files: the size is theirs, and a dtype in which they overflow is left out.
python3 - <<'END'
import struct
text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
text += " " * (-(len(text) + 11) % 64) + "\n"
open("v.npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + struct.pack("<3f", 1e5, 0.1, -3))
END
dtinfo bench dot --a v.npy --b v.npy --dtype fp32,fp16,bf16,fp64 --threads 1 --time 0.01 --json |
    jq -c '.options.a, .options.b, (.results[] | .elements, (.candidates[] | select(.role == "dot") | [.dtype, .exact_sum]))' | uniq
dtinfo bench dot --a v.npy --b v.npy --dtype fp32 --threads 1 --time 0.01 | head -n 1
