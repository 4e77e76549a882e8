mkdir model same
python3 "$MAKERS/make_checkpoint.py" model --single
printf '{\n  "architectures": ["LlamaForCausalLM"],\n  "hidden_size": 32\n}\n' > model/config.json
echo '{}' > model/tokenizer.json
# of one file, shards get the configuration next to it, and nothing else
dtinfo quant model/model.safetensors mxfp4 -o out --max-shard-size 16KiB --keep '*norm*,*embed*' --pad | grep config
ls out
cat out/config.json
dtinfo check out --quantized
dtinfo cast model/model.safetensors fp16 -o half/ --max-shard-size 1MiB | grep copied
cmp model/config.json half/config.json
dtinfo quant out bf16 --dequant -o back/ -q
cmp model/config.json back/config.json
dtinfo cast model/model.safetensors fp16 -o bare/ --max-shard-size 1MiB --no-copy -q
ls bare
# in the folder of the file it is there already
cp model/config.json same
cp model/model.safetensors same/weights.safetensors
dtinfo cast same/weights.safetensors fp16 -o same/ --max-shard-size 1MiB -q
ls same
cmp model/config.json same/config.json
