# rows of one column, each a word of its own: four times the bytes of the codes
python3 - <<'P'
import os, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from tensor_files import write_file
rows = 65536
write_file("a.safetensors", {"a.weight": ("F32", (rows, 1), struct.pack("<8f", 7, -7, 1, 0, -3, 5, 2, -6) * (rows // 8))})
P
dtinfo quant a.safetensors int4 -o words.safetensors -q --threads 1
dtinfo inspect words.safetensors --raw | head -5
dtinfo quant words.safetensors fp32 --dequant -o made.safetensors -q --threads 1
dtinfo compare made.safetensors a.safetensors
