# native: an emulator needs descriptors of its own to open the program
# No descriptor is left for the folder of the file that has the data.
cat > make.py <<'MAKE'
import os, sys
sys.path.insert(0, os.path.join(os.environ["TESTS"], "..", "data"))
from make_onnx import *
write("end.onnx", model(tensor("w", 1, (2,), external("w.bin", offset=4))))
write("w.bin", bytes(8))
MAKE
python3 make.py
sh -c "ulimit -n 4; exec dtinfo inspect end.onnx"
