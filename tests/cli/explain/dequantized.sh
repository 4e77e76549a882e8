# from codes to floats, in two steps, and kept codes
python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo quant model.safetensors nvfp4 --only '*self_attn*' -o q.safetensors -q
dtinfo explain q.safetensors q.safetensors
dtinfo quant q.safetensors bf16 --dequant -o b.safetensors -q
dtinfo explain q.safetensors b.safetensors
dtinfo quant q.safetensors fp32 --dequant -o f.safetensors -q
dtinfo cast f.safetensors fp16 --round zero -o h.safetensors -q
dtinfo explain q.safetensors h.safetensors
