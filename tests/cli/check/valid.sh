python3 "$MAKERS/make_checkpoint.py" shards
python3 "$MAKERS/make_checkpoint.py" . --single
python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo check model.safetensors
dtinfo check shards shards/model.safetensors.index.json weights.npy arrays.npz model.gguf --valid
