python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo inspect -q arrays.npz --sort dtype
