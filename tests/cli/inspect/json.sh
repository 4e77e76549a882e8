python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo inspect --json model.gguf --stats --histogram --each
