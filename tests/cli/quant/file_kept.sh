python3 "$MAKERS/make_checkpoint.py" files --others
dtinfo quant files/arrays.npz int8 -o arrays.safetensors 2>&1
dtinfo quant files/model.gguf int8 -o gguf.safetensors --select '*norm*' --per channel 2>&1
dtinfo quant files/model.gguf int8 -o none.safetensors --select '*norm*' --only none --allow-unmatched 2>&1
