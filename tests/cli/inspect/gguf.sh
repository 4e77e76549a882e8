python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo inspect model.gguf
