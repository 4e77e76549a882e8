# the progress bar names the tensor that is read, from the first one on
python3 - <<'END'
import json, struct, subprocess

BYTES = 16 << 30  # a sparse file: all zeros, read for as long as it takes
header = json.dumps({"first": {"dtype": "F32", "shape": [BYTES // 4], "data_offsets": [0, BYTES]},
                     "second": {"dtype": "F32", "shape": [1], "data_offsets": [BYTES, BYTES + 4]}}).encode()
with open("m.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header)
    file.truncate(8 + len(header) + BYTES + 4)
child = subprocess.Popen(["dtinfo", "compare", "m.safetensors", "m.safetensors", "--progress", "always", "--threads", "1"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
text = b""
while b"/s" not in text and (piece := child.stderr.read1()):
    text += piece
child.terminate()
child.wait()
print("a bar", b"/s" in text, "names the first", b" first" in text, "or the second", b" second" in text)
END
