# the best recipe, and where it first differs: a bit of codes, of scales, all of it
python3 "$MAKERS/make_checkpoint.py" . --single
flip() { # FILE TENSOR BYTE
    python3 - "$@" <<'P'
import json, sys
path, name, place = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = bytearray(open(path, "rb").read())
size = int.from_bytes(data[:8], "little")
begin = 8 + size + json.loads(data[8:8 + size])[name]["data_offsets"][0]
data[begin + place] ^= 4
open(path, "wb").write(data)
P
}
w=model.layers.0.mlp.up_proj.weight
dtinfo cast model.safetensors bf16 --round zero -o b.safetensors -q
flip b.safetensors $w 2467
dtinfo explain model.safetensors b.safetensors; echo "exit $?"
dtinfo quant model.safetensors int8 --block 16 --only '*up_proj*' -o q.safetensors -q
flip q.safetensors ${w}_scale 33
dtinfo explain model.safetensors q.safetensors; echo "exit $?"
flip q.safetensors $w 2815
dtinfo explain model.safetensors q.safetensors; echo "exit $?"
dtinfo explain others/none none 2>&1; echo "exit $?"
python3 "$MAKERS/make_checkpoint.py" . --others
python3 - <<'P'
import pathlib
data = pathlib.Path("weights.npy").read_bytes()
pathlib.Path("zeros.npy").write_bytes(data[:128] + bytes(len(data) - 128))
P
dtinfo explain weights.npy zeros.npy; echo "exit $?"
