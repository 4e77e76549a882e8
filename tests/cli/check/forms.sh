python3 - <<'P'
import os, pathlib, sys
sys.path.insert(0, os.environ["MAKERS"])
from make_checkpoint import safetensors, tensor
pathlib.Path("m%,:é.safetensors").write_bytes(safetensors([
    tensor("w", "F32", [2, 2], [1, 2, 70000, float("nan")]), tensor("a&<b>\"%,:\x1b\n\uffff", "F32", [1], [float("nan")])]))
pathlib.Path("ok.safetensors").write_bytes(safetensors([tensor("w", "F32", [2], [1, 2])]))
P
for form in text junit github; do
    dtinfo check m* ok.safetensors --valid --no-nan --as fp16 --max-error 1 --format $form; echo "exit $?"
done
dtinfo check m* ok.safetensors --no-nan --format sarif > log; echo "exit $?"
sed -e 's/"rules":\[.*\]}},/"rules":[...]}},/' log; grep -o '{"id":"no-nan".*"no-inf"' log; grep -o '{"id":"quantized/scale_zero"[^]]*tensor_scale"' log
dtinfo check ok.safetensors --no-nan --format json | tee one
dtinfo check ok.safetensors --no-nan --json --format json | cmp - one && echo agreed
for form in junit github sarif; do
    echo "what cannot be read:"
    dtinfo check ok.safetensors none.safetensors ok.safetensors --format $form 2>&1 | sed -e 's/"rules":\[.*\]}},/"rules":[...]}},/'
done
