cat > make.py <<'EOF'
import os, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from dequant_files import write_file
def part(name, group):
    return {name + ".weight_packed": ("I32", [2, 32], bytes(range(256))),
            name + ".weight_scale": ("F32", [2, 256 // group], struct.pack("<%df" % (512 // group), *[1.0] * (512 // group))),
            name + ".weight_shape": ("I64", [2], struct.pack("<2q", 2, 256))}
write_file("m.safetensors", {**part("layers.0.up_proj", 128), **part("layers.0.down_proj", 64)})
EOF
TESTS="$TESTS" python3 make.py
group() { # NAME TARGET LENGTH
    echo '"'"$1"'":{"targets":["'"$2"'"],"weights":{"num_bits":4,"group_size":'"$3"'}'"$4"'}'
}
config() { # GROUPS IGNORE
    echo '{"quantization_config":{"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{'"$1"'},"ignore":['"$2"']}}' > config.json
}
dequant() {
    dtinfo quant m.safetensors fp32 --dequant -o o.safetensors --force -q "$@"
    echo "exit $?"
}
config "$(group a 're:.*up_proj' 128),$(group b Linear 64)"
dequant
config "$(group a 're:.*up_proj' 64),$(group b Linear 64)"
dequant
config "$(group a 're:up_proj' 128),$(group b layers.0.down_proj 64)"
dequant
config "$(group a Linear 128)" '"re:.*down_proj$"'
dequant
dequant --keep '*down_proj*'
dequant --bits 4
config "$(group a 're:(?!x).*' 128)"
dequant
config "$(group a 're:.*up_proj' 128),$(group b Linear 64 ',"format":"marlin-24"')"
dequant
dequant --keep '*down_proj*'
