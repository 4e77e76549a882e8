python3 "$TESTS/make_checkpoint.py" . --others
dtinfo inspect --stats model.gguf
