# nodes with more inputs than matter: the sixth of MatMulNBits is a bias; DequantizeLinear has no sixth
PYTHONPATH="$TESTS/../data" python3 - <<'END'
import struct
from make_onnx import model, raw, use, write
nodes = (use("MatMulNBits", ["x", "words", "eight", "", "", "bias"], "com.microsoft", K=20, N=2, bits=4, block_size=16) +
         use("DequantizeLinear", ["linear", "scales", "", "", "", "x", "x"], axis=1))
write("more.onnx", model(raw("words", 2, (2, 2, 8), bytes(range(32))), raw("eight", 1, (4,), struct.pack("<4f", 1, 2, 3, 4)),
                         raw("bias", 1, (2,), bytes(8)), raw("linear", 3, (2, 3), bytes(range(6))),
                         raw("scales", 1, (3,), struct.pack("<3f", 1, 2, 3)), graph=nodes))
END
dtinfo inspect more.onnx
