cat > make.py <<'END'
import os, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from dequant_files import write_file
one = ("F32", [], struct.pack("<f", 0.5))
parts = {"m.up.weight": ("F8_E4M3", [2, 4], bytes(8)), "m.up.weight_scale": one, "m.up.input_scale": one,
         "m.attn.k_scale": one}
write_file("a.safetensors", parts)
write_file("b.safetensors", dict(parts, ids=("I64", [2], bytes(16))))
END
TESTS="$TESTS" python3 make.py
dtinfo inspect a.safetensors
dtinfo inspect b.safetensors | sed -n '/parameters/,$p'
dtinfo mem a.safetensors fp32
dtinfo inspect a.safetensors --only '*k_scale' | grep parameters
