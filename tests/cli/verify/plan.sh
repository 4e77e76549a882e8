# a plan of advise is a file of recipes: the formats that it names, everything else kept
python3 "$MAKERS/make_checkpoint.py" . --single
plan() { printf '%s' "$1" > p.json; }
verify() { dtinfo verify model.safetensors "$1" --recipe p.json 2>&1; echo "exit $?"; }
up=model.layers.0.mlp.up_proj.weight out=model.layers.0.self_attn.o_proj.weight
tensors="\"tensors\": [{\"name\": \"$up\", \"name_hex\": null, \"format\": \"int8\"}, {\"format\": \"mxfp8_e4m3\", \"name\": \"$out\"}]"
head='"schema": "dtinfo.advise_plan/1", "writes": "safetensors"'
dtinfo quant model.safetensors int8 --per channel --quant-only "$up" -o half.safetensors -q
dtinfo quant half.safetensors mxfp8_e4m3 --quant-only "$out" -o b.safetensors -q
plan "{$head, \"layout\": \"compressed-tensors\", \"per\": \"channel\", $tensors}"
verify b.safetensors
plan "{$tensors, \"per\": \"channel\", \"layout\": null, $head}" # in any order
verify b.safetensors
verify half.safetensors
plan "{$head, $tensors}" # one scale a tensor
verify b.safetensors
plan "{$head, \"layout\": \"modelopt\", \"per\": \"channel\", $tensors}"
verify b.safetensors
dtinfo cast b.safetensors fp16 --only model.norm.weight -o c.safetensors -q # what the plan does not name stays
plan "{$head, \"per\": \"channel\", $tensors}"
verify c.safetensors
python3 -c 'b = bytearray(open("b.safetensors", "rb").read()); b[-1] ^= 1; open("d.safetensors", "wb").write(b)'
verify d.safetensors
# what is no plan for verify
plan '{"schema": "dtinfo.advise_plan/1", "writes": "gguf", "tensors": [{"name": "w", "format": "q4_k"}]}'
verify b.safetensors
plan "{$head, \"tensors\": [{\"name\": \"$up\"}]}"
verify b.safetensors
plan "{$head, \"tensors\": [{\"name\": \"$up\", \"format\": 4}]}"
verify b.safetensors
plan "{$head, \"tensors\": [{\"name\": \"$up\", \"format\": \"int99\"}]}"
verify b.safetensors
plan "{$head, \"layout\": \"none\", $tensors}"
verify b.safetensors
plan "{$head}"
verify b.safetensors
