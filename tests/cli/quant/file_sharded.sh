python3 "$MAKERS/make_checkpoint.py" model
dtinfo quant model nvfp4 -o quantized/ --keep '*norm*,*down*' --layout modelopt -v --threads 2 | grep -v -e level -e layernorm
ls quantized
dtinfo quant quantized mxfp8_e4m3 -o again/ --keep '*down*' --select '*.0.*' --threads 1
