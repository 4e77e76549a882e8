python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
nan, inf = float("nan"), float("inf")
pathlib.Path("good.safetensors").write_bytes(safetensors([
    tensor("w", "F32", [2, 2], [1, -0.5, 65519, 0]), tensor("i", "I64", [2], [1, 100000])]))
pathlib.Path("bad.safetensors").write_bytes(safetensors([
    tensor("w", "F32", [2, 2], [1, -65520, 70000, 0]),
    tensor("n", "BF16", [3], [0, nan, nan]),
    tensor("o", "F16", [3], [-inf, 1, inf]),
    tensor("p", "F64", [1], [-1e300]),
    tensor("q", "F16", [1], [nan]),
    tensor("i", "I64", [2], [-(1 << 63), 100000])]))
P
dtinfo check good.safetensors --no-nan --no-inf --fits fp16,bf16,fp32 --max-abs 100000; echo "exit $?"
dtinfo check bad.safetensors --no-nan --no-inf --fits fp16,fp32,fp8_e4m3fn,int8 --max-abs 1e5; echo "exit $?"
dtinfo check bad.safetensors --no-nan --no-inf --fits fp16,int8 --max-abs 1e5 -v; echo "exit $?"
dtinfo check good.safetensors --fits fp16 --ints; echo "exit $?"
dtinfo check good.safetensors --max-abs 99999.99999999999999999999; echo "exit $?"
dtinfo check bad.safetensors --max-abs 9223372036854775807 --only i; echo "exit $?"
dtinfo check bad.safetensors --max-abs 9223372036854775808 --only i; echo "exit $?"
# the message has the largest magnitude
echo 2 -3 | dtinfo cast - fp32 --from text -o low.bin -q
dtinfo check low.bin --from fp32 --max-abs 1; echo "exit $?"
