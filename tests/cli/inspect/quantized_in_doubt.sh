cat > make.py <<'END'
import os, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from dequant_files import write_file
def open_words(name):
    return {name + "_packed": ("I32", [1, 1], bytes([0x21, 0x43, 5, 0])),
            name + "_scale": ("F32", [1], struct.pack("<f", 0.5)),
            name + "_shape": ("I64", [2], struct.pack("<2q", 1, 3))}
write_file("words.safetensors", dict(open_words("a"), **open_words("b")))
write_file("groups.safetensors", {"w": ("I8", [2, 96], bytes(192)), "w_scale": ("F32", [2, 2], bytes(16))})
write_file("order.safetensors", {"w": ("I8", [4], bytes(4)), "w_scale": ("F32", [1], bytes(4)),
                                 "w_g_idx": ("I32", [4], bytes(16))})
END
TESTS="$TESTS" python3 make.py
dtinfo inspect words.safetensors
dtinfo inspect words.safetensors --bits 4
dtinfo inspect groups.safetensors | tail -1
dtinfo inspect groups.safetensors --block 48 | sed -n '3p'
dtinfo inspect order.safetensors
dtinfo inspect words.safetensors --json | python3 "$TESTS/json_members.py" '.files[0].notes' '.files[0].stored_tensor_count'
dtinfo mem words.safetensors fp32 -q
dtinfo mem words.safetensors fp32
dtinfo mem words.safetensors fp32 --bits 4 -q
dtinfo mem words.safetensors fp32 --json | python3 "$TESTS/json_members.py" .warnings
dtinfo compare words.safetensors words.safetensors
dtinfo compare words.safetensors words.safetensors --bits 2
dtinfo check words.safetensors --no-nan
