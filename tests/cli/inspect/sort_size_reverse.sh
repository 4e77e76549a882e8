python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo inspect arrays.npz --sort size --reverse
