# data in other files: "." and doubled slashes are left out of their names, a leading dot of a name is not
PYTHONPATH="$TESTS/../data" python3 - <<'END'
import os
from make_onnx import external, model, tensor, write
os.makedirs("sub")
os.makedirs(".kept")
for number, name in enumerate(("sub/b.bin", ".hidden.bin", ".kept/.c")):
    write(name, bytes([0, 0, 128, 63 + number]))
write("m.onnx", model(*(tensor(name, 1, (1,), external(name)) for name in
                        ("sub/b.bin", "./sub//b.bin", "sub/./b.bin", ".hidden.bin", "./.kept/.c"))))
END
dtinfo inspect m.onnx --stats --width 0
dtinfo inspect m.onnx --json | grep -o '"path":"[^"]*"'
