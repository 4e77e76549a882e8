# files and words that are no recipes
python3 "$MAKERS/make_checkpoint.py" . --others
verify() { printf '%s' "$1" > r.json; dtinfo verify weights.npy weights.npy --recipe r.json 2>&1; echo "exit $?"; }
for text in '' '[' '[]' '{}' '{"recipe": 1}' '{"recipe": "kept"} x' '{"recipe": "kept"' '{"tensors": {}}' '{"tensors": [1]}' \
    '{"tensors": [{}]}' '{"tensors": [{"name": "data", "recipe": 7}]}' '{"tensors": [], "tensors": []}' \
    '{"schema": "dtinfo.verify/1", "recipe": "kept"}' '{"tensors": [{"name": "data", "recipe": "kept"}, {"name": "data"}]}' \
    '{"tensors": [{"name": "x", "name_hex": "6", "recipe": "kept"}]}' '{"tensors": [{"name": "x", "name_hex": "6Z"}]}'; do
    verify "$text"
done
for words in '' 'keep' 'kept bf16' 'cast' 'cast bf61' 'cast bf16 fp16' 'cast bf16 --ruond up' 'cast bf16 --round sideways' \
    'cast bf16 --keep x' 'cast bf16 -o x' 'cast bf16 --like torch --round up' 'cast complex64' 'cast mxfp4' 'quant fp64' \
    'quant mxfp4 --like torch --division exact' 'quant int8 --block 0' 'quant int8 --axis -1' 'quant int8 --scale 2' \
    'cast bf16 then cast fp16' 'quant fp32 --dequant then' 'quant bf16 --dequant then cast fp16' 'cast bf16 --help' \
    'cast bf16 --via fp16,fp16,fp16,fp16,fp16' 'cast \u001b[31m'; do
    verify "{\"tensors\": [{\"name\": \"data\", \"recipe\": \"$words\"}]}"
done
python3 -c 'print("{\"recipe\": \"cast bf16" + " --ints" * 99 + "\"}")' > r.json
dtinfo verify weights.npy weights.npy --recipe r.json 2>&1
python3 -c 'print("[" * 500)' > r.json
dtinfo verify weights.npy weights.npy --recipe r.json 2>&1
python3 -c 'print("{\"x\":" * 500)' > r.json
dtinfo verify weights.npy weights.npy --recipe r.json 2>&1
