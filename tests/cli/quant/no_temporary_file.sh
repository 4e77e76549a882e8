# Elements in another order need a temporary file: without one nothing is written, and the reason is said.
cat > make.py <<'END'
import struct
import sys
sys.path.insert(0, sys.argv[1])
from make_pickles import archive, state, storage, tensor
every_second = tensor(storage(count=128), shape=(2, 32), strides=(64, 2))
open("m.pt", "wb").write(archive(state({"w": every_second}), {"0": struct.pack("<128f", *range(128))}))
END
python3 make.py "$MAKERS"
export TMPDIR=none
dtinfo cast m.pt bf16 -o out.safetensors; echo "exit $?"
dtinfo quant m.pt q8_0 -o out.gguf --set general.architecture=none --type w=q8_0 -q; echo "exit $?"
dtinfo inspect m.pt --stats; echo "exit $?"
ls
