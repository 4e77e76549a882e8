python3 "$MAKERS/make_checkpoint.py" model --single
try() { printf '%s' "$1" > known.json; dtinfo check model/model.safetensors --baseline known.json 2>&1; echo "exit $?"; }
try 'x'
try '{"schema":"dtinfo.inspect/1"}'
try '{"schema":"dtinfo.check/1"}'
try '{"schema":"dtinfo.check/1","files":[{"path":7,"assertions":[{"failures":[{}, 1]}, 2]}, null]}'
try '{"schema":"dtinfo.check/1","files":[{"path":"abcd","path_hex":"zz","assertions":[{"failures":[{}]}]}]}'
dtinfo check model/model.safetensors --baseline none.json 2>&1; echo "exit $?"
