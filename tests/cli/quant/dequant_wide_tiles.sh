# scales of nvfp4 in tiles, of rows wider than what is read at once: by the formula of cuBLAS, against the numbers themselves
python3 - <<'P'
import os, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from tensor_files import write_file
rows, groups = 3, 264
scale = lambda row, group: 8 + (row * 37 + group * 11) % 96  # codes of fp8_e4m3fn
number = lambda code: (8 + code % 8) * 2.0 ** (code // 8 - 10)
tiles = bytearray(128 * groups)
for row in range(rows):
    for group in range(groups):
        tiles[(row // 128 * (groups // 4) + group // 4) * 512 + row % 32 * 16 + row % 128 // 32 * 4 + group % 4] = scale(row, group)
form = b'{"format": "nvfp4"}'
write_file("tiles.safetensors", {
    "w.weight": ("U8", (rows, 8 * groups), b"\x22" * (rows * 8 * groups)),  # all codes are 1
    "w.weight_scale": ("F8_E4M3", (128, groups), bytes(tiles)), "w.weight_scale_2": ("F32", (), struct.pack("<f", 1)),
    "w.comfy_quant": ("U8", (len(form),), form)})
write_file("numbers.safetensors", {"w.weight": ("F32", (rows, 16 * groups), b"".join(
    struct.pack("<f", number(scale(row, group))) * 16 for row in range(rows) for group in range(groups)))})
P
dtinfo quant tiles.safetensors fp32 --dequant -o made.safetensors -q --threads 1
dtinfo compare made.safetensors numbers.safetensors
dtinfo check tiles.safetensors --quantized --threads 1
