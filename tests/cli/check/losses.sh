# Weights whose magnitudes fit fp4_e2m1, and of which it keeps nothing.
python3 - <<'EOF'
import os, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import pack, safetensors
tensors = [("w", "F32", [2, 3], [0.02, -0.01, 0.0, 0.03, 0.2, 1.0]), ("large", "F32", [2], [1.0, 70000.0]),
           ("zeros", "F32", [4], [0.0] * 4), ("i", "I32", [2], [1, 100000])]
open("m.safetensors", "wb").write(safetensors([(n, d, s, pack(d, v)) for n, d, s, v in tensors]))
EOF
try() { dtinfo check m.safetensors "$@"; echo "exit $?"; }
try --fits fp4_e2m1 --only w
try --as fp4_e2m1 --max-to-zero 0.7 --only w
try --as fp4_e2m1,bf16 --max-to-zero 0.8 --max-error 0.1 --min-sqnr 10 --only w
try --as fp16,fp32 --max-to-zero 0 --max-error 1e-3 --min-sqnr -5 --no-nan
try --as e4m3fn --max-error inf --only large -v
try --as int8 --min-sqnr 20 --ints --only i,zeros
try --as fp4_e2m1,fp16 --max-to-zero 0.5 --max-error 0.001 --min-sqnr 20 --json
