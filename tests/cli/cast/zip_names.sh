# a member's flag says that its name is UTF-8, if it is not ASCII
python3 - <<'P'
import os, sys
sys.path.insert(0, os.environ["MAKERS"])
from tensor_files import write_file
write_file("a.safetensors", {"plain": ("F32", (2,), bytes(8)), "gr\u00f6\u00dfe": ("F32", (2,), bytes(8))})
P
dtinfo cast a.safetensors fp16 -o a.npz -q 2>&1
python3 -c 'import zipfile
for i in zipfile.ZipFile("a.npz").infolist(): print(ascii(i.filename), hex(i.flag_bits))'
