# The way out of pickles: a PyTorch file, and one in shards, become safetensors. None is written.
cp "$TESTS"/../data/torch.pt .
dtinfo cast torch.pt bf16 -o out.safetensors
dtinfo compare torch.pt out.safetensors --rtol 0.01 -q; echo "exit $?"
dtinfo cast torch.pt fp32 --keep '*' -o same.safetensors -q
dtinfo compare torch.pt same.safetensors --bitwise | tail -n 1
mkdir model
cp torch.pt model/pytorch_model-00001-of-00001.bin
dtinfo inspect torch.pt -q | jq -R . | jq -sc '{weight_map: (map({(.): "pytorch_model-00001-of-00001.bin"}) | add)}' > model/pytorch_model.bin.index.json
dtinfo inspect model | head -n 4
dtinfo cast model bf16 -o joined.safetensors -q
cmp out.safetensors joined.safetensors && echo same
dtinfo cast model bf16 -o shards/; echo "exit $?"; ls shards; dtinfo compare shards out.safetensors -q; echo "exit $?"
dtinfo cast torch.pt bf16 -o out.pt; echo "exit $?"
dtinfo quant torch.pt int8 --select model.proj.weight -o q.safetensors -q; echo "exit $?"
dtinfo check torch.pt --no-nan --fits fp16
