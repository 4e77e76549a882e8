# a line for each file
python3 "$MAKERS/make_checkpoint.py" model --single --others
dtinfo check model/model.safetensors model/weights.npy --dtype fp32 --jsonl | grep -o -e '"path":"[^"]*"' -e '"ok":[a-z]*'
