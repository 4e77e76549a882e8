# members of a quantization_config that are not what they must be, one at a time
python3 "$MAKERS/make_checkpoint.py" model --single
cat >write.py <<'END'
import json, sys
weights = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True}
place, name, value = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
group = {"targets": ["Linear"], "weights": weights}
config = {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": group}, "ignore": []}
{"weights": weights, "group": group, "config": config}[place][name] = value
json.dump({"quantization_config": config}, open("model/config.json", "w"))
END
while read -r place name value
do
    python3 write.py "$place" "$name" "$value"
    printf '%s: ' "$name $value"; dtinfo check --quantized model 2>&1 | grep -v "^ok  *valid" | head -n 1
done <<'END'
weights actorder 5
weights actorder "group"
weights actorder null
weights num_bits "4"
weights num_bits 0
weights num_bits 65
weights type 4
weights type "word"
weights strategy []
weights strategy "rows"
weights group_size -2
weights group_size 2.5
weights symmetric "yes"
weights block_structure [1]
weights block_structure "128x"
weights block_structure "x128"
weights block_structure "128x0"
weights block_structure "128x64x2"
weights block_structure "128x123456789"
weights block_structure "128x64"
group targets "Linear"
group targets [5]
group weights 7
group targets ["Zed"]
group targets ["Act"]
group targets ["@ct"]
group targets ["[ed"]
config config_groups []
config ignore "lm_head"
config ignore [null]
config format 3
config quant_method 1
config bits "4"
config bits 4.5
config bits -4
config bits true
config bits null
END
