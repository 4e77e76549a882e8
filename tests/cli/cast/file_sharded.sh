python3 "$MAKERS/make_checkpoint.py" model
dtinfo cast model fp16 -o fp16/
ls fp16
cat fp16/model.safetensors.index.json
dtinfo cast model/model.safetensors.index.json fp16 -o one.safetensors -q
dtinfo cast fp16 fp32 -o named/model.safetensors.index.json -q --select '*layers.0*,*embed*' && ls named
dtinfo cast fp16 fp16 -o - | cmp - one.safetensors
