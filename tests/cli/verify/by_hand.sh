# recipes written by hand: for all, for some, null, renamed, in two steps
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
numbers = [x / 7 for x in range(64)]
pathlib.Path("a.safetensors").write_bytes(safetensors([
    tensor("norm", "F32", [4], [1, 2, 3, 4]), tensor("v", "F32", [2, 32], numbers), tensor("w", "F32", [2, 32], numbers),
    tensor("z", "I8", [4], [1, 2, 3, 4])]))
P
dtinfo cast a.safetensors bf16 --overflow saturate --keep norm --select norm,v,w -o b.safetensors -q
verify() { echo "$1" > r.json; shift; dtinfo verify "$@" --recipe r.json; echo "exit $?"; }
verify '{"recipe": "cast bf16 --overflow saturate", "tensors": [{"name": "norm", "recipe": "kept"}]}' a.safetensors b.safetensors
verify '{"recipe": "cast bf16"}' a.safetensors b.safetensors
verify '{"tensors": [{"recipe": "cast  bf16 ", "name": "v"}, {"name": "w", "recipe": "cast bf16", "x": [1, {}]}]}' a.safetensors b.safetensors
verify '{"recipe": "kept", "tensors": [{"name": "v", "recipe": null}]}' a.safetensors a.safetensors
verify '{"recipe": "kept", "tensors": [{"name": "u", "recipe": "kept"}]}' a.safetensors a.safetensors
verify '{"recipe": "kept"}' a.safetensors b.safetensors
verify '{"recipe": "renamed"}' a.safetensors a.safetensors
dtinfo quant a.safetensors int8 --per channel --keep norm -o q.safetensors -q
verify '{"recipe": "quant int8 --per channel", "tensors": [{"name": "norm", "recipe": "kept"}, {"name": "z", "recipe": "kept"}]}' a.safetensors q.safetensors
verify '{"recipe": "quant int8 --per channel --division exact", "tensors": [{"name": "norm", "recipe": "kept"}, {"name": "z", "recipe": "kept"}]}' a.safetensors q.safetensors
dtinfo quant q.safetensors fp32 --dequant -o f.safetensors -q
dtinfo cast f.safetensors fp16 --round down --only v,w -o h.safetensors -q
verify '{"recipe": "kept", "tensors": [{"name": "v", "recipe": "quant fp32 --dequant then cast fp16 --round down"}, {"name": "w", "recipe": "quant fp32 --dequant then cast fp16 --round down"}]}' q.safetensors h.safetensors
