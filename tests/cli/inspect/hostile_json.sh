python3 "$MAKERS/make_checkpoint.py" . --hostile
dtinfo inspect --json hostile.npz
