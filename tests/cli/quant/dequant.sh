python3 "$MAKERS/make_checkpoint.py" files --others
cp files/model.gguf .
python3 "$MAKERS/make_checkpoint.py" unknown --unknown
dtinfo quant unknown/model.gguf bf16 --dequant -o a.safetensors
echo "exit $?"
dtinfo quant model.gguf bf16 --dequant -o a.safetensors --select '*attn*,*norm*,token*' -v
dtinfo inspect a.safetensors
dtinfo quant model.gguf fp32 --dequant --dry-run --select '*attn*'
dtinfo cast model.gguf bf16 -o b.safetensors
echo "exit $?"
dtinfo quant a.safetensors int8 -o q.safetensors --per channel -q
dtinfo quant q.safetensors fp16 --dequant -o back.safetensors --keep '*attn*'
dtinfo quant q.safetensors fp16 --dequant -o back.safetensors --force
dtinfo quant a.safetensors fp16 --dequant -o no.safetensors
echo "exit $?"
dtinfo quant q.safetensors --dequant -o no.safetensors
dtinfo quant q.safetensors int8 --dequant -o no.safetensors
dtinfo quant q.safetensors fp32 --dequant --axis 1 -o no.safetensors
echo "exit $?"
ls
