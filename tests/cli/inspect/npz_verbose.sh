python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo inspect -v arrays.npz
