# scales of nvfp4 in tiles, of one row with more of them than the memory for those that are read at once
python3 - <<'P'
import os, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from tensor_files import write_file
groups = 16384
form = b'{"format": "nvfp4"}'
write_file("tiles.safetensors", {
    "w.weight": ("U8", (1, 8 * groups), b"\x22" * (8 * groups)),  # all codes are 1
    "w.weight_scale": ("F8_E4M3", (128, groups), b"\x40" * (128 * groups)), "w.weight_scale_2": ("F32", (), struct.pack("<f", 1)),
    "w.comfy_quant": ("U8", (len(form),), form)})
write_file("numbers.safetensors", {"w.weight": ("F32", (1, 16 * groups), struct.pack("<f", 2) * (16 * groups))})
P
dtinfo quant tiles.safetensors fp32 --dequant -o made.safetensors -q --threads 1
dtinfo compare made.safetensors numbers.safetensors
