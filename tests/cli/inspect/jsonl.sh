python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo inspect --jsonl weights.npy none.npy columns.npy
