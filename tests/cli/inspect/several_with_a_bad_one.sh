python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo inspect weights.npy none.npy columns.npy
