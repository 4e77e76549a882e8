# what does not fit, what is missing, files that are none
python3 "$MAKERS/make_language_model.py" model
try() { dtinfo "$@" 2>&1; echo "exit $?"; }
try advise
try advise model
try advise model model --fit 1MB
try advise none --fit 1MB
try advise model --fit 1QB
try advise model --fit 9000
try advise model --fit 1kB --json
try advise model --fit 1MB --menu q4_k
try advise model --fit 1MB --menu int8,int8
try advise model --fit 1MB --menu int8,
try advise model --fit 1MB --menu stored
try advise model --fit 1MB --menu fp32,int8
try advise model --fit 1MB --keep '*'
try advise model --fit 1MB --keep '*q_prj*'
try advise model --fit 1MB -o -
try advise model --fit 1MB -o x.txt --as llama-quantize
try advise model --fit 1MB --as llama-quantize --loader llama.cpp
try advise model --fit 1MB --as modelopt
try advise model --fit 1MB -o x.txt --as modelopt --loader comfyui
try advise model --fit 1MB -o x.txt --as comfyui
try advise model --fit 1MB -o x.txt --as compressed
try advise model --fit 1MB -o x.txt --as modelopt --menu fp8,int4
try advise model --fit 1MB -o x.txt --as modelopt
try advise model --fit 1MB -o x.txt --as compressed-tensors --menu fp8_e5m2
touch there.json
try advise model --fit 1MB -o there.json
try advise model --fit 1MB --measurements there.json
try advise model --fit 1MB --weights there.json
printf '*q_proj*,1\n' > w.csv
try advise model --fit 1MB --weights w.csv
for line in 'x' ',1' '*,' '*,-1' '*,nan'; do
    echo "$line" > w.csv
    try advise model --fit 1MB --weights w.csv
done
printf 'a,1\na,2\n*,1\n' > w.csv
try advise model --fit 1MB --weights w.csv
echo x > w.pth
try advise model --fit 1MB --weights w.pth
python3 - <<'P'
import pickle, zipfile
def state(path, value):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/data.pkl", pickle.dumps(value, 2))
state("old.pth", {"candidate_stats": {"lm_head.quant_recipe": {"scores": [1.0, 0], "costs": [1.0, 2.0]}}})
state("none.pth", {"model": 1})
state("nan.pth", {"candidate_stats": {"x": {"scores": [float("nan")], "costs": [1.0], "module_names": ["x"]}}})
P
for state in old none nan; do
    try advise model --fit 1MB --weights $state.pth
done
rm ./*.pth
dtinfo quant model q8_0 -o q.gguf -q 2> /dev/null
try advise q.gguf --fit 1MB
dtinfo cast model bf16 -o p.gguf -q 2> /dev/null
try advise p.gguf --fit 1MB --loader vllm
plan() { echo "$1" > p.json; shift; try quant model --plan p.json -o out/ "$@"; }
plan '{}'
plan '{"schema": "dtinfo.advise/1"}'
plan '{"schema": "dtinfo.advise_plan/1", "writes": "safetensors", "tensors": []}'
plan '{"schema": "dtinfo.advise_plan/1", "writes": "npy", "tensors": [{"name": "x", "format": "int8"}]}'
plan '{"schema": "dtinfo.advise_plan/1", "writes": "safetensors", "tensors": [{"name": "x"}]}'
plan '{"schema": "dtinfo.advise_plan/1", "writes": "safetensors", "tensors": [{"name": "x", "format": "int8"}]}'
plan '{"schema": "dtinfo.advise_plan/1", "writes": "safetensors", "layout": "x", "tensors": []}'
plan '{"schema": "dtinfo.advise_plan/1", "writes": "safetensors", "per": "x", "tensors": []}'
one='{"name": "lm_head.weight", "format": "int8"}'
plan "{\"schema\": \"dtinfo.advise_plan/1\", \"writes\": \"safetensors\", \"tensors\": [$one, $one]}"
plan "{\"schema\": \"dtinfo.advise_plan/1\", \"writes\": \"safetensors\", \"tensors\": [$one]}" --type '*=int8'
try quant model int8 --plan p.json -o out/
plan '{"schema": "dtinfo.advise_plan/1", "writes": "safetensors", "tensors": [{"name": "lm_head.weight", "format": "q4_k"}]}'
try quant model --plan none.json -o out/
ls
# a NaN has no error: the matrix is not called exact, but stays as it is
python3 - <<'P'
import json, struct
data = struct.pack("<f", float("nan")) + bytes(4 * (64 * 64 - 1))
header = json.dumps({"w.weight": {"dtype": "F32", "shape": [64, 64], "data_offsets": [0, len(data)]}}).encode()
open("nan.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + data)
P
try advise nan.safetensors --fit 10kB
# the plan of a model that fits as it is
try advise model --fit 1GB -o all.json | tail -n 2
try quant model --plan all.json -o out/
