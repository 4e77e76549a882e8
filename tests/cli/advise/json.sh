# the documents: the answer, the plan, the measurements, which are taken from their file the second time
python3 "$MAKERS/make_language_model.py" model
dtinfo advise model --fit 18kB --menu stored,int8,nvfp4 --measurements m.json -o plan.json --json
dtinfo advise model --fit 18kB --menu stored,int8,nvfp4 --measurements m.json --json | cut -c 1-100
cat plan.json m.json
printf '# name,number\n*down_proj*,1000\nmodel.layers.0.self_attn.o_proj.weight,2\n*,1\n' > w.csv
dtinfo advise model --fit 18kB --menu int8,nvfp4 --measurements m.json --weights w.csv --keep '*' --json 2>&1; echo "exit $?"
dtinfo advise model --fit 18kB --menu int8,nvfp4 --measurements m.json --weights w.csv
# a name that is not UTF-8 and no text for a terminal, in the frontier as elsewhere
python3 - <<'P'
import struct
text = lambda name: struct.pack("<Q", len(name)) + name
head = b"GGUF" + struct.pack("<IQQ", 3, 2, 1) + text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")
head += b"".join(text(name) + struct.pack("<IQQIQ", 2, 32, 32, 1, 2048 * i) for i, name in enumerate((b"k\xff\x1b.weight", b"l.weight")))
data = b"".join(struct.pack("<e", (7 * i % 61 - 30) / 8) for i in range(1024))
open("odd.gguf", "wb").write(head + bytes(-len(head) % 32) + data + data)
P
dtinfo advise odd.gguf --fit 4kB --menu stored,q8_0 --json
dtinfo advise odd.gguf --fit 4kB --menu stored,q8_0 -q
