# Of the nonzero elements more than half become 0: half is not more, and zeros that were there do not count.
python3 - <<'EOF'
import os, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import pack, safetensors
tensors = {"sparse": [0.0] * 97 + [1e-9, 1e-9, 5.0], "half": [1e-9, 2e-9, 1.0, 3.0, 0.0],
           "whole": [1.0, 2.0, -3.0, float("nan")], "zeros": [0.0] * 8,
           "small\x1b": [0.02] * 49 + [1.0], "tiny": [1e-9, -1e-9], "tiny too": [1e-9, -1e-9, 3.0]}
open("in.safetensors", "wb").write(safetensors([(n, "F32", [len(v)], pack("F32", v)) for n, v in tensors.items()]))
EOF
dtinfo cast in.safetensors fp8_e4m3fn -o fp8.safetensors
dtinfo cast in.safetensors int8 -o int8.safetensors --round nearest-even --threads 2
dtinfo cast in.safetensors int32 -o int32.safetensors -q
dtinfo cast in.safetensors bool -o bool.safetensors -q
dtinfo cast in.safetensors fp8_e4m3fn -o json.safetensors --json 2>/dev/null | grep -o '"warnings":.*'
