# an in-toto statement: only where all is verified, the same bytes each time, nothing replaced
python3 "$MAKERS/make_checkpoint.py" model
dtinfo cast model bf16 --keep '*norm*' --select '*layers.0.input*,*layers.1.*up*' -o half -q
dtinfo explain model half --json > half.json
dtinfo verify model half --recipe half.json --attest one.json
dtinfo verify model half --recipe half.json --attest two.json -q --threads 1
cmp one.json two.json
sed 's/"sha256":"[0-9a-f]*"/"sha256":"..."/g' one.json
python3 - <<'P'
import hashlib, json, pathlib
statement = json.loads(pathlib.Path("one.json").read_text())
for files, folder in ((statement["subject"], "half"),
                      (statement["predicate"]["buildDefinition"]["resolvedDependencies"], "model")):
    for file in files:
        there = hashlib.sha256(pathlib.Path(folder, file["name"]).read_bytes()).hexdigest()
        print(file["name"], there == file["digest"]["sha256"])
pathlib.Path("again.json").write_text(json.dumps(statement["predicate"]["buildDefinition"]["externalParameters"]))
P
dtinfo verify model half --recipe again.json
dtinfo verify model half --recipe half.json --attest one.json 2>&1; echo "exit $?"
dtinfo verify model half --recipe half.json --attest - 2>&1; echo "exit $?"
dtinfo verify model half --recipe half.json --attest none/x.json 2>&1; echo "exit $?"
dtinfo verify model model --recipe half.json --attest three.json; echo "exit $?"
ls
