python3 "$TESTS/make_checkpoint.py" . --others
dtinfo inspect weights.npy columns.npy
