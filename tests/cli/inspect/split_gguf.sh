python3 "$MAKERS/make_checkpoint.py" . --others
mkdir parts
dtinfo cast model.gguf fp32 -o parts/m.gguf --max-shard-size 700 -q 2> /dev/null
dtinfo inspect -v parts/m-00002-of-*.gguf
dtinfo inspect -q parts
