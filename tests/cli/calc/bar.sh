# the progress bar of a long operation, which a signal ends at once
python3 - <<'END'
import signal, subprocess

SIDE = 2048  # a product that takes long
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (SIDE, SIDE)
header = header.ljust(117) + "\n"
with open("m.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    file.truncate(10 + len(header) + 4 * SIDE * SIDE)
for dtype, when in ("fp8_e4m3fn", "always"), ("int16", "always"):
    child = subprocess.Popen(["dtinfo", "calc", "matmul(@m.npy, @m.npy)", dtype, "--progress", when, "-o", "product.npy"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    text = b""
    while b"/s" not in text and (piece := child.stderr.read1()):
        text += piece
    child.send_signal(signal.SIGINT)
    text += child.stderr.read()
    print(dtype, "a bar", b"%  " in text, b" elements/s" in text, "ended by SIGINT", child.wait() == -signal.SIGINT)
END
ls
dtinfo calc 'sum([1,2,3])' bf16 --progress never -q
