python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo quant model.safetensors mxfp4 -o out --max-shard-size 8KiB --pad -q
(cd out && wc -c -- * | sed 's/^ *//')
dtinfo check out --quantized
dtinfo quant model.safetensors mxfp4 -o one.safetensors --pad -q
dtinfo compare out one.safetensors
# shards of another size, with a name for their index
mkdir two
dtinfo cast out fp32 -o two/three.safetensors.index.json --max-shard-size 4KiB -q
ls two
dtinfo cast model.safetensors fp16 -o small.safetensors --max-shard-size 1MiB
dtinfo cast out fp16 -o folder/ --max-shard-size 1MiB --part 1/2
