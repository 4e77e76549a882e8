python3 "$TESTS/make_checkpoint.py" . --others
head -c 224 weights.npy | dtinfo inspect -
