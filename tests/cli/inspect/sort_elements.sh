python3 "$TESTS/make_checkpoint.py" . --others
dtinfo inspect -q arrays.npz --sort elements
