cat > make.py <<'END'
import os, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from dequant_files import write_file
def shape(*n):
    return ("I64", [len(n)], struct.pack("<%dq" % len(n), *n))
# compressed-tensors, pack-quantized, 8 bits, a scale per channel
write_file("words.safetensors", {"m.weight_packed": ("I32", [64, 32], bytes(range(256)) * 32),
                                 "m.weight_scale": ("F32", [64, 1], struct.pack("<64f", *range(1, 65))),
                                 "m.weight_shape": shape(64, 128)})
write_file("groups.safetensors", {"w": ("I8", [2, 96], bytes(192)), "w_scale": ("F32", [2, 2], bytes(16))})
write_file("bytes.safetensors", {"w": ("U8", [2, 4], bytes(8)), "w_scale": ("F32", [1], bytes(4))})
END
TESTS="$TESTS" python3 make.py
config() {
    echo '{"quantization_config":{"quant_method":"compressed-tensors","format":"'"$1"'","config_groups":{"group_0":{"targets":["Linear"],"weights":{'"$2"'}}}}}' > config.json
}
dequant() {
    file=$1
    shift
    dtinfo quant "$file.safetensors" fp32 --dequant -o o.safetensors --force "$@"
    echo "exit $?"
}
dequant words
dequant words --bits 8
dequant words --bits 4
config pack-quantized '"num_bits":8,"strategy":"channel"'
dequant words
dtinfo quant words.safetensors fp32 --dequant --dry-run --json | python3 "$TESTS/json_members.py" .options .config '.tensors[0].from' '.tensors[0].quantized'
config pack-quantized '"num_bits":4,"strategy":"group","group_size":128'
dequant words
config marlin-24 '"num_bits":8'
dequant words
echo '{"quantization_config":' > config.json
dequant words
rm config.json
dequant groups
dtinfo quant groups.safetensors fp32 --dequant --dry-run --block 48 --json | python3 "$TESTS/json_members.py" .options .config '.tensors[0].quantized'
dequant bytes
dequant bytes --bits 8 -q
dtinfo quant o.safetensors int8 --bits 8 -o p.safetensors
echo "exit $?"
dtinfo quant 1 2 int8 --bits 8
echo "exit $?"
