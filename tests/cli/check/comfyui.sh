# The first release of ComfyUI that loads the layers of a file, wherever their formats are stated.
make() {
    PYTHONPATH="$MAKERS" python3 - "$1" <<'EOF'
import json, sys
from tensor_files import write_file
case, tensors, layers = sys.argv[1], {}, {}
def layer(name, form, dtype, scales, metadata=False):
    size = 1 if dtype in ("I8", "F8_E4M3", "F8_E5M2", "U8") else 4
    tensors[name + ".weight"] = (dtype, (2, 64), bytes(128 * size))
    tensors[name + ".weight_scale"] = ("F32", scales, bytes(4 * (2 if scales else 1)))
    text = json.dumps(form).encode()
    if metadata:
        layers[name] = form
    else:
        tensors[name + ".comfy_quant"] = ("U8", (len(text),), text)
int8, rotated = {"format": "int8_tensorwise"}, {"format": "int8_tensorwise", "convrot": True, "convrot_groupsize": 64}
if case in ("int8", "all"):
    layer("a", int8, "I8", (2, 1))
    layer("b", rotated, "I8", (2, 1))
    layer("c", rotated, "I8", (2, 1), True)
if case in ("fp8", "all", "e5m2"):
    layer("d", {"format": "float8_e4m3fn"}, "F8_E4M3", ())
    layer("e", {"format": "float8_e4m3fn"}, "F8_E4M3", (), True)
if case in ("entry",):
    layer("e", {"format": "float8_e4m3fn"}, "F8_E4M3", (), True)
if case in ("int4", "all"):
    layer("f", {"format": "convrot_w4a4", "convrot_groupsize": 64}, "I8", (2,))
if case in ("blockwise", "all"):
    layer("g", {"format": "int8_blockwise", "group_size": 64}, "I8", ())
if case in ("e5m2",):
    layer("h", {"format": "float8_e5m2"}, "F8_E5M2", ())
if case in ("later",):
    layer("i", {"format": "asym_w4a8_int8"}, "I8", (2, 1))
if case in ("other",):
    layer("j", {"format": "of the future"}, "I8", (2, 1))
if case in ("old",):
    tensors["scaled_fp8"] = ("F8_E4M3", (2,), bytes(2))
    tensors["k.weight"], tensors["k.scale_weight"] = ("F8_E4M3", (2, 64), bytes(128)), ("F32", (), bytes(4))
if case in ("none",):
    tensors["l.weight"] = ("F32", (2,), bytes(8))
write_file(case + ".safetensors", tensors, {"_quantization_metadata": json.dumps({"layers": layers})} if layers else None)
EOF
}
for case in old entry fp8 int8 int4 blockwise e5m2 later other none all; do
    echo "--- $case"
    make $case
    dtinfo check $case.safetensors
    dtinfo check $case.safetensors --json | jq -c '.files[].comfyui'
done
dtinfo check all.safetensors --no-nan
dtinfo check all.safetensors --quantized | tail -1
