python3 "$MAKERS/make_checkpoint.py" . --others
head -c 224 weights.npy | dtinfo inspect -
