python3 "$MAKERS/make_checkpoint.py" . --unknown
dtinfo check model.gguf --no-nan --fits bf16; echo "exit $?"
dtinfo check model.gguf --no-nan --only '*norm*,token*'; echo "exit $?"
