# a recipe that explains another tensor, and cannot store a number far behind the first difference, is not the best for this one
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import pack, safetensors, tensor
count = 100000
numbers = bytearray(pack("F32", [1]) * count)
numbers[-4:] = pack("F32", [-1])
codes = bytearray(b"\x7f" * count)
codes[-1] = 0xff # NaN
codes[1000] = 0x7e
up = [1.1 + i / 100 for i in range(64)]
pathlib.Path("a.safetensors").write_bytes(safetensors([tensor("s", "F32", [64], up), ("t", "F32", [count], bytes(numbers))]))
pathlib.Path("b.safetensors").write_bytes(safetensors([("s", "F8_E8M0", [64], b"\x80" * 64), ("t", "F8_E8M0", [count], bytes(codes))]))
P
dtinfo explain a.safetensors b.safetensors
