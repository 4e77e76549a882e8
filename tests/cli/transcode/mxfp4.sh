# mxfp4 by any name, and as nvfp4: the same numbers where 18 powers of two are enough
cp "$TESTS/../data/gpt_oss.safetensors" .
dtinfo transcode gpt_oss.safetensors --to modelopt -o none.safetensors
dtinfo transcode gpt_oss.safetensors --to bf16 -o floats.safetensors -q
dtinfo quant floats.safetensors mxfp4 --axis -2 --quant-only '*_proj' --keep '*down*' -o codes.safetensors -q
dtinfo transcode codes.safetensors --to gpt-oss -o oss.safetensors
dtinfo inspect oss.safetensors | grep -v '^$'
dtinfo compare floats.safetensors oss.safetensors
echo "nvfp4:"
python3 "$MAKERS/make_mlx.py" near.safetensors a.weight_packed=U8:1,64 a.weight_scale=U8:1,4/7f7c8088
python3 "$MAKERS/make_mlx.py" far.safetensors a.weight_packed=U8:1,64/72 a.weight_scale=U8:1,4/7f6a8088 \
    b.weight_packed=U8:2,16/00 b.weight_scale=U8:2,1/00fe c.weight_packed=U8:1,32/66 c.weight_scale=U8:1,2/6c7f
for file in near far
do
    dtinfo transcode $file.safetensors --to modelopt --dtype nvfp4 -o nv.safetensors --force -v
    dtinfo compare nv.safetensors $file.safetensors
    dtinfo transcode $file.safetensors --to compressed-tensors --dtype nvfp4 -o nv.safetensors --force --json |
        jq -c '.options, .totals, .translated[]'
    dtinfo compare nv.safetensors $file.safetensors --top 0
done
dtinfo transcode far.safetensors --to modelopt --dtype nvfp4 -o no.safetensors --require-lossless
echo "exit $?"
dtinfo transcode nv.safetensors --to compressed-tensors --dtype nvfp4 -o same.safetensors -q
cmp nv.safetensors same.safetensors && echo same
