cat > make.py <<'END'
import os, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from dequant_files import write_file
one = ("F32", [1], struct.pack("<f", 0.5))
code = ("F8_E4M3", [4], bytes(4))
powers = ("F8_E8M0", [1, 1], bytes([127]))
write_file("scaled.safetensors", {"a.weight": code, "a.weight_scale": one, "b.weight": code,
                                  "b.weight_scale_inv": one, "c.weight": ("F8_E4M3", [2, 2], bytes(4)), "c.scale": powers,
                                  "d": code, "e_packed": ("I32", [1, 1], bytes(4)), "e_scale": one})
write_file("one.safetensors", {"layers.0.attn.wq_a.weight": ("F8_E4M3", [2, 2], bytes([0x38, 0x40, 0x44, 0xb8])),
                               "layers.0.attn.wq_a.scale": ("F8_E8M0", [1, 1], bytes([128]))})
END
TESTS="$TESTS" python3 make.py
dtinfo cast scaled.safetensors bf16 -o a.safetensors
dtinfo cast scaled.safetensors bf16 --ints -o b.safetensors
dtinfo cast scaled.safetensors bf16 -o c.safetensors --keep 'a.weight,b.weight,c.weight'
dtinfo cast one.safetensors fp32 -o d.safetensors --json | python3 "$TESTS/json_members.py" .warnings
dtinfo quant one.safetensors fp32 --dequant -o e.safetensors -v
dtinfo inspect e.safetensors --stats
dtinfo inspect one.safetensors --raw | grep note
dtinfo inspect scaled.safetensors --raw --only '[ab].*' --json | python3 "$TESTS/json_members.py" '.files[0].notes'
dtinfo inspect scaled.safetensors --raw --only d | grep -c note || true
