python3 "$MAKERS/make_checkpoint.py" model --single
try() { dtinfo check model/model.safetensors "$@" 2>&1; echo "exit $?"; }
try --format sarif --json
try --format json --jsonl
try --format text --json
try --format xml
try --format junit --columns head
