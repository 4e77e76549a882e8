mkdir model
python3 "$MAKERS/make_checkpoint.py" model --single
printf '{\n  "architectures": ["LlamaForCausalLM"],\n  "hidden_size": 32\n}\n' > model/config.json
echo '{}' > model/tokenizer.json
# of one file, shards get the configuration next to it, and nothing else
dtinfo quant model/model.safetensors mxfp4 -o out --max-shard-size 8KiB --keep '*norm*,*embed*' --pad
ls out
cat out/config.json
dtinfo check out --quantized
dtinfo cast model/model.safetensors fp16 -o half/ --max-shard-size 1MiB
cmp model/config.json half/config.json
dtinfo quant out bf16 --dequant -o back/ -q
cat back/config.json
dtinfo cast model/model.safetensors fp16 -o bare/ --max-shard-size 1MiB --no-copy -q
ls bare
# in the folder of the file it is there already
dtinfo cast model/model.safetensors fp16 -o model/ --max-shard-size 1MiB -q
ls model
