# each option that changes bytes is found; out is what explain calls it
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import normals, safetensors, tensor
numbers = [x * 3e4 for x in normals(256, seed=3, scale=1.0)] + [1e6, -1e6, 0.1, 3e-8] * 16
pathlib.Path("a.safetensors").write_bytes(safetensors([tensor("w", "F32", [5, 64], numbers)]))
P
try() {
    command=$1
    shift
    dtinfo "$command" a.safetensors "$@" -o b.safetensors -q --force
    echo "$command $* => $(dtinfo explain a.safetensors b.safetensors | sed -n '2s/  1 tensor.*//;2p')"
}
for round in nearest-away zero up down odd stochastic; do try cast bf16 --round "$round"; done
try cast fp8_e4m3fn --overflow native
try cast fp8_e4m3fn --overflow saturate
try cast fp8_e5m2 --overflow saturate --round zero
try cast fp8_e5m2 --via fp16
try cast fp32 --via fp8_e5m2
try cast fp4_e2m1 --packing high --overflow saturate
try cast int8 --round up --overflow wrap
try cast bf16 --like avx512-bf16
for rule in floor ceil rceil even; do try quant mxfp8_e4m3 --mx-scale "$rule"; done
for rule in true reciprocal exact; do try quant nvfp4 --division "$rule" --nv-scale four-six; done
try quant nf4 --layout bitsandbytes --nested-absmax
try quant int4 --block 16 --symmetry half
try quant uint4 --per channel --like torch
try quant int8 --axis 1 --affine
try quant int4 --block 10 --pad
try quant fp8_e4m3fn --layout modelopt
try quant q8_0
