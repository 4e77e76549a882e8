python3 "$TESTS/make_checkpoint.py" . --others
dtinfo inspect --jsonl weights.npy none.npy columns.npy
