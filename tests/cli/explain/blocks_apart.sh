# tensors of different blocks are of different kinds: what explains one is not tried first on the other
python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import normals, safetensors, tensor
pathlib.Path("a.safetensors").write_bytes(safetensors([
    tensor("p.weight", "F32", [4, 64], normals(256)), tensor("q.weight", "F32", [4, 64], list(range(-8, 8)) * 16)]))
P
dtinfo quant a.safetensors q8_0 --only p.weight -o a.gguf --set general.architecture=x -q
dtinfo quant a.gguf q4_0 --only q.weight -o b.gguf -q
dtinfo quant b.gguf fp32 --dequant -o f.safetensors -q
dtinfo cast f.safetensors bf16 --round zero -o h.safetensors -q
dtinfo explain b.gguf h.safetensors
