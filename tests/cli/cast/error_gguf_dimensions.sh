# gguf has at most four dimensions
python3 - <<'P'
import os, sys
sys.path.insert(0, os.environ["MAKERS"])
from tensor_files import write_file
for rank in 4, 5:
    write_file("%d.safetensors" % rank, {"a": ("F32", (1,) * (rank - 1) + (2,), bytes(8))})
P
for rank in 4 5; do
    dtinfo cast $rank.safetensors fp16 -o $rank.gguf -q --set general.architecture=flux 2>&1; echo "exit $?"
done
ls *.gguf
