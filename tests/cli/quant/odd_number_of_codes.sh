# bitsandbytes fills the last byte of an odd number of codes with the code of 0: 7 in nf4, 0 in fp4
python3 - <<'END'
import json, struct
head, data = {}, b""
for name, shape in (("a.weight", [3, 3]), ("b.weight", [5]), ("c.weight", [2, 2])):
    n = 1
    for length in shape:
        n *= length
    head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * n]}
    data += struct.pack("<%df" % n, *range(1, n + 1))
text = json.dumps(head).encode()
open("odd.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
END
for dtype in nf4 bnb_fp4
do
    dtinfo quant odd.safetensors $dtype --layout bitsandbytes -o q.safetensors -q --force
    python3 - <<'END'
import json, struct
file = open("q.safetensors", "rb").read()
size = struct.unpack("<Q", file[:8])[0]
for name, row in sorted(json.loads(file[8:8 + size]).items()):
    if row.get("dtype") == "U8" and name.endswith("weight"):
        first, end = row["data_offsets"]
        print(name, file[8 + size + first:8 + size + end].hex())
END
done
