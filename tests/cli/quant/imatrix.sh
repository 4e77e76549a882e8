python3 "$MAKERS/make_checkpoint.py" files --others
cp files/model.gguf .
python3 - <<'END'
import struct
def entry(name, calls, values):
    return struct.pack("<i", len(name)) + name + struct.pack("<ii", calls, len(values)) + struct.pack("<%df" % len(values), *values)
embedding = entry(b"token_embd.weight", 4, [i * i / 4 for i in range(32)])
query = entry(b"blk.0.attn_q.weight", 1, [1] * 32)
up = entry(b"blk.0.ffn_up.weight", 1, [i % 8 for i in range(256)])
for name, entries in (("all.dat", [embedding, query, up]), ("some.dat", [embedding]), ("long.dat", [query, entry(b"token_embd.weight", 1, [1] * 64)])):
    with open(name, "wb") as file:
        file.write(struct.pack("<i", len(entries)) + b"".join(entries))
with open("negative.dat", "wb") as file:
    file.write(struct.pack("<i", 1) + entry(b"token_embd.weight", 1, [1] * 31 + [-1]))
with open("told.dat", "wb") as file:
    file.write(struct.pack("<i", 1) + up + struct.pack("<ii", 12, 8) + b"wiki.txt")
END
exec 2>&1
try() { dtinfo quant "$@" || echo "exit $?"; }
try model.gguf q4_0 --imatrix all.dat -o a.gguf --threads 1
try model.gguf q4_0 --imatrix some.dat -o b.gguf --dry-run
(export DTINFO_CPU=scalar; try model.gguf q4_0 --imatrix some.dat -o b.gguf --dry-run --json)
try model.gguf q8_0 --imatrix some.dat -o c.gguf --type 'token*=q5_1' --dry-run
try model.gguf q8_0 --imatrix all.dat -o bad.gguf
# types that need weights, and the keys that say what these are from
try model.gguf iq2_xxs -o bad.gguf
try model.gguf q8_0 --type '*up*=iq3_s' -o bad.gguf
try model.gguf q8_0 --type '*up*=iq3_s' --imatrix some.dat -o bad.gguf
try model.gguf q8_0 --type '*up*=iq3_s' --imatrix files/../told.dat -o d.gguf --select '*up*' --threads 1
dtinfo inspect d.gguf --metadata
try d.gguf q4_k --imatrix all.dat -o e.gguf --set quantize.imatrix.chunks_count=9 --threads 1 -q
dtinfo inspect e.gguf --metadata
try model.gguf q4_0 --imatrix long.dat -o bad.gguf
try model.gguf q4_0 --imatrix negative.dat -o bad.gguf
try model.gguf q4_0 --imatrix some.dat -o bad.gguf --select '*ffn_up*'
try model.gguf q4_0 --imatrix model.gguf -o bad.gguf
try model.gguf q4_0 --imatrix nowhere.dat -o bad.gguf
echo 'a text that is no importance matrix' > text.dat
try model.gguf q4_0 --imatrix text.dat -o bad.gguf
try model.gguf int8 --imatrix all.dat -o bad.safetensors
try model.gguf fp32 --dequant --imatrix all.dat -o bad.safetensors
try 1 2 q4_0 --imatrix all.dat
ls
