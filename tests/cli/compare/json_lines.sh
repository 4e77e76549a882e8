# a line for each pair, of that pair alone, then one of all together
python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo cast model/model.safetensors bf16 -o b.safetensors -q --select '*proj*,*embed*'
dtinfo compare model/model.safetensors b.safetensors --jsonl >lines
dtinfo compare model/model.safetensors b.safetensors --json >whole
python3 - <<'END'
import json
whole = json.load(open("whole"))
lines = [json.loads(line) for line in open("lines")]
print([pair for line in lines for pair in line["tensors"]] == whole["tensors"])
print({**lines[-1], "tensors": whole["tensors"]} == whole)
for line in lines[:-1]:
    pair, = line["tensors"]
    figures = pair["figures"]
    same = all(line["total"][key] == value for key, value in figures.items() if key in line["total"]) if figures else line["total"]["elements"]
    print(pair["a"]["name"][-14:], line["outcome"], line["counts"]["tensors"], line["counts"][line["outcome"]], same)
END
