# codes of dimensions whose product exceeds 64 bits before one of 0 makes them none
python3 - <<'P'
import os, struct, sys
sys.path.insert(0, os.path.join(os.environ["TESTS"], "..", "data"))
from make_onnx import *
one = raw("one", 1, (), struct.pack("<f", 0.5))
for name, dims in (("huge", (2 ** 40, 2 ** 40, 0)), ("empty", (2 ** 40, 0, 2 ** 40))):
    write(name + ".onnx", model(raw("w", 3, dims, b""), one, graph=use("DequantizeLinear", ["w", "one"])))
P
for name in huge empty; do
    dtinfo inspect $name.onnx 2>&1
    dtinfo quant $name.onnx fp32 --dequant -o $name.safetensors -q 2>&1; echo "exit $?"
done
