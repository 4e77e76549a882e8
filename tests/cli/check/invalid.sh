# a file that is broken is an answer where that was the question, and an error elsewhere
python3 "$MAKERS/make_checkpoint.py" . --single
python3 "$MAKERS/make_checkpoint.py" shards
head -c 10000 model.safetensors > short.safetensors
rm shards/model-00002-of-00002.safetensors
dtinfo check short.safetensors; echo "exit $?"
dtinfo check short.safetensors model.safetensors --valid --no-nan; echo "exit $?"
dtinfo check shards; echo "exit $?"
dtinfo check short.safetensors --no-nan 2>&1; echo "exit $?"
dtinfo check short.safetensors -q; echo "exit $?"
dtinfo check none.safetensors 2>&1; echo "exit $?"
