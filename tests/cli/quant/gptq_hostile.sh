# matrices without elements, scales that are integers, a configuration that writes to the terminal
make() {
    mkdir "$1"
    python3 - "$1" "$2" "$3" <<'PY'
import json, math, struct, sys
folder, rows, scale = sys.argv[1], int(sys.argv[2]), sys.argv[3]
shapes = {"a.qweight": ("I32", [rows, 32]), "a.qzeros": ("I32", [rows // 4, 4]), "a.scales": (scale, [rows // 4, 32])}
if folder == "awq":
    shapes = {"a.qweight": ("I32", [32, 4]), "a.qzeros": ("I32", [1, 4]), "a.scales": (scale, [1, 32])}
header, at = {}, 0
for name, (dtype, shape) in shapes.items():
    size = math.prod(shape) * (2 if dtype == "F16" else 4)
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
    at += size
text = json.dumps(header).encode()
with open(folder + "/x.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + b"\x77" * at)
PY
}
make empty 0 F16
echo '{"quantization_config": {"quant_method": "gptq", "bits": 4, "checkpoint_format": "gptq"}}' > empty/config.json
dtinfo inspect empty/x.safetensors | sed -n 2,3p
dtinfo quant empty/x.safetensors fp32 --dequant -o out.safetensors --force -q
echo "exit $?"
make ints 4 I32
dtinfo quant ints/x.safetensors fp32 --dequant -o out.safetensors --force -q
echo "exit $?"
make awq 4 F16
printf '{"quantization_config": {"quant_method": "awq", "bits": 4, "version": "\\u001b[31mred"}}' > awq/config.json
dtinfo quant awq/x.safetensors fp32 --dequant -o out.safetensors --force -q
echo "exit $?"
