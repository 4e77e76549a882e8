python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo cast model.gguf bf16 -o m.gguf --max-shard-size 700
ls m*
dtinfo cast m-00001-of-*.gguf fp32 -o whole.gguf
dtinfo inspect whole.gguf --metadata | grep split
dtinfo cast model.gguf bf16 -o m-00001-of-00002.gguf
