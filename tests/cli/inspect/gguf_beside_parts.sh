# a folder with a split gguf and another one, whose name comes first
python3 "$MAKERS/make_checkpoint.py" . --others
mkdir parts
dtinfo cast model.gguf fp32 -o parts/m.gguf --max-shard-size 700 -q 2> /dev/null
dtinfo inspect -q parts
cp model.gguf parts/a.gguf
dtinfo inspect -q parts 2>&1; echo "exit $?"
