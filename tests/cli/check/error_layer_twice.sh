# ComfyUI's entry in the metadata names its first layers twice, and is not read
python3 - <<'P'
import os, struct, sys
sys.path.insert(0, os.environ["MAKERS"])
from tensor_files import write_file
layer = '"%s": {"format": "float8_e4m3fn"}'
tensors = {}
for name in "ab":
    tensors[name + ".weight"] = ("F8_E4M3", (2, 4), bytes(8))
    tensors[name + ".weight_scale"] = ("F32", (), struct.pack("<f", 1))
for case, names in (("once", "ab"), ("twice", "aab")):
    write_file(case + ".safetensors", tensors, {"_quantization_metadata": '{"layers": {%s}}' % ", ".join(layer % name for name in names)})
P
dtinfo check once.safetensors --quantized 2>&1; echo "exit $?"
dtinfo check twice.safetensors --quantized 2>&1; echo "exit $?"
