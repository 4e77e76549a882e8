# the names of the levels and the kernels of casts come in pairs, none of them twice
for cast in fp32:bf16 fp32:fp8_e4m3fn; do
    dtinfo bench cast $cast --size 4KiB --level all --time 0.01 --json >all.json
    python3 - <<'EOP'
import json
casts = [c for c in json.load(open("all.json"))["results"][0]["candidates"] if c["role"] == "cast"]
print(len({c["kernel"] for c in casts}) == len(casts), len({c["level"] for c in casts}) == len(casts))
print(all(c["relative_mad"] is None for c in casts if c["samples"] < 3))
EOP
done
