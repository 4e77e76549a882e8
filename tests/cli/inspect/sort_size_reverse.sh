python3 "$TESTS/make_checkpoint.py" . --others
dtinfo inspect arrays.npz --sort size --reverse
