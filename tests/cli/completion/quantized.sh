python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo quant model/model.safetensors nvfp4 -o q.safetensors -q --only '*q_proj*' --select '*q_proj*' --pad
dtinfo __complete inspect q.safetensors --only ''
dtinfo __complete cast q.safetensors bf16 --only ''
