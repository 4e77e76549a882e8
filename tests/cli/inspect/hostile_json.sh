python3 "$TESTS/make_checkpoint.py" . --hostile
dtinfo inspect --json hostile.npz
