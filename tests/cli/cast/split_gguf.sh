python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo cast model.gguf bf16 -o m.gguf --max-shard-size 700
ls m*
dtinfo cast m-00001-of-*.gguf fp32 -o whole.gguf
dtinfo inspect whole.gguf --metadata | grep split
# two tensors that take one byte more than the most are in two parts
dtinfo cast model.gguf fp32 -o s.gguf --max-shard-size 479 -q
dtinfo cast model.gguf fp32 -o t.gguf --max-shard-size 480 -q
wc -c s-* t-* | sed 's/^ *//'
dtinfo cast model.gguf bf16 -o m-00001-of-00002.gguf
