# the same tensors in two shards, in one file, and beside themselves
python3 "$MAKERS/make_checkpoint.py" shards
python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo compare shards model.safetensors
dtinfo compare shards/model.safetensors.index.json shards --bitwise
dtinfo compare model.safetensors shards -q; echo "exit $?"
