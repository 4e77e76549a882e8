# a line for each tensor, then one for the file; a file that cannot be read is one line
python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo inspect model/model.safetensors none.npy --jsonl >lines
python3 - <<'END'
import json, subprocess
one = json.loads(subprocess.run(["dtinfo", "inspect", "model/model.safetensors", "--json"], stdout=subprocess.PIPE).stdout)
lines = [json.loads(line) for line in open("lines")]
files = [line["files"][0] for line in lines]
whole = one["files"][0]
print(len(files), all(len(line["files"]) == 1 for line in lines))
print([t for f in files[:-2] for t in f["tensors"]] == whole["tensors"])
print(sorted({key for f in files[:-2] for key, value in f.items() if value is not None}))
print({**files[-2], "tensors": whole["tensors"]} == whole, files[-2]["tensors"])
print(files[-1]["tensors"], files[-1]["error"]["code"])
END
