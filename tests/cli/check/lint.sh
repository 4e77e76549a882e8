cat > make.py <<'END'
import json, os, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from dequant_files import write_file
def part(name, scale, last):
    return {name + ".weight_packed": ("I32", [2, 5], struct.pack("<10I", *[0x76543210] * 4, 0x3210, *[0x76543210] * 4, last)),
            name + ".weight_scale": ("F32", [2, 3], struct.pack("<6f", 0.5, 0.25, 0.125, scale, 1, 2)),
            name + ".weight_shape": ("I64", [2], struct.pack("<2q", 2, 36))}
plain = {"lm_head.weight": ("BF16", [2, 4], bytes(16)), "model.norm.weight": ("BF16", [4], bytes(8))}
write_file("good.safetensors", {**part("model.up\x1b[31m", 1, 0x3210), **part("model.down", 1, 0x3210), **plain})
write_file("bad.safetensors", {**part("model.up\x1b[31m", float("nan"), 0x76543210), **part("model.down", 0, 0x76543210), **plain})
weights = {"num_bits": 4, "group_size": 12}
with open("config.json", "w") as file:
    json.dump({"quantization_config": {"quant_method": "compressed-tensors", "format": "pack-quantized", "ignore": ["lm_head", "re:up"],
               "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}}, file)
END
TESTS="$TESTS" python3 make.py
dtinfo check good.safetensors --quantized
echo "exit $?"
dtinfo check bad.safetensors --quantized
echo "exit $?"
dtinfo check bad.safetensors --quantized -v --only '*down*'
echo "exit $?"
dtinfo check bad.safetensors --quantized --only '*down*' --json | python3 -m json.tool | grep -E '"(name|outcome|tensor|detail|rule|remedy)":'
dtinfo check bad.safetensors --quantized -q
echo "exit $?"
sed -i 's/, "re:up"//' config.json
dtinfo check good.safetensors --quantized --no-nan
echo "exit $?"
