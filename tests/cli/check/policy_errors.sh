# one line for each error: file, line, the nearest word
python3 "$MAKERS/make_checkpoint.py" model --single
try() { printf '%b' "$1" > p.json; dtinfo check --policy p.json model/model.safetensors 2>&1; echo "exit $?"; }
try '{"rules": [\n  {"files": "*",\n   "no-nans": true}]}'
try '{"rules": [{"files": "*", "threads": 2}]}'
try '{"rule": []}'
try '{"rules": [{"files": "*", "no-nan": 1}]}'
try '{"rules": [{"files": "*", "only": 1}]}'
try '{"rules": [{"files": 1}]}'
try '{"rules": [{"files": "*", "bits": "4"}]}'
try '{"rules": [{"files": "*", "bits": 99}]}'
try '{"rules": [{"files": "*", "endian": "litle"}]}'
try '{"rules": [{"files": "*", "max-abs": "x"}]}'
try '{"rules": [{"files": "*", "fits": "bf61"}]}'
try '{"rules": [{"files": "*", "max-abs": null}]}'
try '{"rules": [{"files": "*", "max-to-zero": 0.1}]}'
try '{"rules": [{"files": "*", "only": "a\\u0000b"}]}'
try '{"rules": [{"files": "*", "no-nan": true, "no-nan": false}]}'
try '{"rules": [{"no-nan": true}]}'
try '{"rules": [{"files": "*"}], "rules": []}'
try '{"rules": [], "$schema": 1}'
try '{"rules": []}'
try '{"rules": [7]}'
try '{"rules": 7}'
try '[]'
try ''
try '{"rules": [{"files": "*"}]} // to the end\n/* */ x'
try '{"rules": [{"files": "*" /* no end ]}'
try '{"rules": [{"files": "*",, }]}'
python3 -c 'print("{\"rules\": [" + "{\"files\": \"*\"}," * 257 + "]}")' > p.json
dtinfo check --policy p.json model/model.safetensors 2>&1
python3 -c 'print("[" * 200)' > p.json
dtinfo check --policy p.json model/model.safetensors 2>&1
python3 -c 'print(" " * (1 << 20))' > p.json
dtinfo check --policy p.json model/model.safetensors 2>&1
dtinfo check --policy none.json model/model.safetensors 2>&1
