# one at a time along rows: 1 * row + column, of three arrays of different shapes
PYTHONPATH="$MAKERS" python3 - <<'END'
from make_checkpoint import safetensors, tensor
with open("in.safetensors", "wb") as file:
    file.write(safetensors([tensor("ones", "F32", [40, 2048], [1] * 81920), tensor("rows", "F32", [40, 1], range(40)),
                            tensor("columns", "F32", [2048], range(2048))]))
END
dtinfo calc 'fma(@in.safetensors:ones, @in.safetensors:rows, @in.safetensors:columns)' fp32 -q -o out.npy
python3 - <<'END'
import struct
with open("out.npy", "rb") as file:
    numbers = struct.unpack("<81920f", file.read()[-4 * 81920:])
print(all(number == i // 2048 + i % 2048 for i, number in enumerate(numbers)))
END
