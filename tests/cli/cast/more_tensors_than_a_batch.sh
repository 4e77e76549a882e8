# 1,026 tensors are two batches, of 1,024 and of 2: each tensor is counted once
python3 - <<'END'
import json, struct
header = json.dumps({"t%d" % i: {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i in range(1026)}).encode()
open("many.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + struct.pack("<f", 0.1) * 1026)
END
dtinfo cast many.safetensors bf16 -o cast.safetensors | tail -n 4
