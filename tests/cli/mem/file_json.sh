python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo mem arrays.npz nf4 -v --json
