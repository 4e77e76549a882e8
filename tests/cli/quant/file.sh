python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo quant model/model.safetensors int8 -o int8.safetensors --keep '*norm*'
dtinfo quant model/model.safetensors mxfp4 -o mxfp4.safetensors --only '*.0.*proj*' --select '*.0.*' --pad
dtinfo inspect mxfp4.safetensors | head -8
ls
