# what is wrong with a model, in one line
cat > make.py <<'MAKE'
import os, sys
sys.path.insert(0, os.path.join(os.environ["TESTS"], "..", "data"))
from make_onnx import *
good = raw("w", 1, (2,), bytes(8))
inner = good
for _ in range(200):
    inner = block(6, block(1, block(5, inner)))
write("truncated.onnx", model(good)[:30])
write("deep.onnx", model(graph=block(1, block(5, inner))))
write("group.onnx", model(good) + b"\x0b")
write("varint.onnx", model(good) + b"\x28" + b"\xff" * 11)
write("negative.onnx", model(raw("w", 1, (-1,), bytes(8))))
write("huge.onnx", model(raw("w", 1, (2 ** 40, 2 ** 40), bytes(8))))
write("short.onnx", model(raw("w", 1, (3,), bytes(8))))
write("numbers.onnx", model(tensor("w", 7, (3,), numbers(7, [1, 2], "varint", True))))
write("range.onnx", model(tensor("w", 3, (1,), numbers(5, [300], "varint", True))))
write("twice.onnx", model(good, good))
write("nothing.onnx", b"\x08\x0a")
for number, location in enumerate(("../up", "/etc/passwd", "C:x", "a\\b", "", "folder/", "missing.bin", "link.bin", "fifo")):
    write("outside%d.onnx" % number, model(tensor("w", 1, (2,), external(location))))
write("offset.onnx", model(tensor("w", 1, (2,), external("w.bin", offset="-8"))))
write("end.onnx", model(tensor("w", 1, (2,), external("w.bin", offset=4))))
write("length.onnx", model(tensor("w", 1, (2,), external("w.bin", length=4))))
write("longer.onnx", model(tensor("w", 1, (1,), external("w.bin", length=8, more="x"))))
write("past.onnx", model(tensor("w", 1, (1,), external("w.bin", length=9))))
write("w.bin", bytes(8))
os.symlink("/etc/passwd", "link.bin")
os.mkfifo("fifo")
MAKE
python3 make.py
for name in truncated deep group varint negative huge short numbers range twice nothing outside0 outside1 outside2 \
    outside3 outside4 outside5 outside6 outside7 outside8 offset end length longer; do
    dtinfo inspect $name.onnx 2>&1 | head -n 3
done
dtinfo inspect longer.onnx | tail -n 2
echo "past the end of the file:"
try() { dtinfo "$@" 2>&1; echo "exit $?"; }
try inspect past.onnx
try check past.onnx
try cast past.onnx bf16 -o o.npz
try compare longer.onnx past.onnx
try inspect past.onnx --lenient -q
try cast past.onnx bf16 -o o.npz -q --lenient
dtinfo inspect - < end.onnx
