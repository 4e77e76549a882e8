python3 "$MAKERS/make_checkpoint.py" . --hostile
dtinfo inspect --tree hostile.gguf
