# Written for ComfyUI: names, dtypes and shapes of parts, marks, the metadata entry, and back.
python3 "$MAKERS/make_checkpoint.py" model --single
first='*.0.self_attn*,*.0.input*,*.0.mlp.down*'
for dtype in nvfp4 mxfp8 float8_e4m3fn int8_tensorwise; do
    dtinfo quant model/model.safetensors $dtype -o $dtype.safetensors --layout comfy --select "$first" --pad 2>/dev/null ||
        dtinfo quant model/model.safetensors $dtype -o $dtype.safetensors --layout comfy --select "$first"
    dtinfo inspect $dtype.safetensors --raw | grep self_attn.q_proj
    dtinfo quant $dtype.safetensors fp32 --dequant -o back.safetensors --force -q
    dtinfo compare $dtype.safetensors back.safetensors
done
echo "several dtypes:"
dtinfo quant model/model.safetensors nvfp4 -o mixed.safetensors --layout comfy --select "$first" --pad \
    --type '*.v_proj.*=fp8_e4m3fn,*.o_proj.*=int8' --keep '*down*'
grep -a -o '{"format": [^}]*}' mixed.safetensors | sort | uniq -c
dtinfo inspect mixed.safetensors --metadata 2>/dev/null | grep -c quantization_metadata
dtinfo quant model/model.safetensors int8 -o no.safetensors --type '*.v_proj.*=mxfp4,*.o_proj.*=fp8_e4m3fn' --dry-run --json |
    jq -c '.output.types, ([.tensors[] | select(.name | test("0.self_attn.._proj")) | [.to, (.parts | map(.part))]])'
echo "padded:"
dtinfo calc 'randn(5,20)' fp32 --seed 7 -o w.npy -q
dtinfo cast w.npy fp32 --as safetensors -o w.safetensors -q
python3 - <<'EOF'
import json, struct
raw = open("w.safetensors", "rb").read()
length = struct.unpack("<Q", raw[:8])[0]
header = json.loads(raw[8:8 + length])
text = json.dumps({"l.weight": next(v for k, v in header.items() if k != "__metadata__")}).encode()
open("w.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + length:])
EOF
dtinfo quant w.safetensors nvfp4 --layout comfy -o padded.safetensors
dtinfo quant w.safetensors nvfp4 --layout comfy -o padded.safetensors --pad -q
dtinfo inspect padded.safetensors --raw
dtinfo inspect padded.safetensors
dtinfo explain w.safetensors padded.safetensors
echo "options:"
dtinfo quant w.safetensors nvfp4 --layout comfy -o no.safetensors --packing high
dtinfo quant w.safetensors mxfp4 --layout comfy -o no.safetensors
dtinfo quant w.safetensors fp8_e4m3fn --layout comfy --per channel -o no.safetensors
dtinfo quant w.safetensors int8 --layout comfy --block 4 -o no.safetensors
dtinfo quant w.safetensors int8 --layout comfy --type 'l.weight' -o no.safetensors
dtinfo quant w.safetensors int8 --layout comfy --type 'k.weight=nvfp4' -o no.safetensors
dtinfo quant mixed.safetensors bf16 --dequant --type 'a=int8' -o no.safetensors
dtinfo quant 1 2 int8 --type 'a=int8'
dtinfo quant w.npy int8 --layout comfy -o no.npy
dtinfo quant w.safetensors int8 --layout comfy -o no.npz
