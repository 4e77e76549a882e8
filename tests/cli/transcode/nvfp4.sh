# The tensor scale multiplies in modelopt and divides in compressed-tensors: the one of b has no reciprocal that leads back.
python3 "$MAKERS/make_mlx.py" mo.safetensors a.weight=U8:2,16 a.weight_scale=F8_E4M3:2,2/38 a.weight_scale_2=F32:/0000003f \
    b.weight=U8:2,16 b.weight_scale=F8_E4M3:2,2/38403042 b.weight_scale_2=F32:/0000d03f \
    c.weight=U8:2,16 c.weight_scale=F8_E4M3:2,2 c.weight_scale_2=F32:/0000803e norm.weight=BF16:16
dtinfo transcode mo.safetensors --to compressed-tensors -o ct.safetensors
dtinfo inspect ct.safetensors -v | head -n 14
dtinfo compare mo.safetensors ct.safetensors --top 0
echo "all of them:"
dtinfo transcode mo.safetensors --to compressed-tensors -o ct.safetensors -v --force --threads 1
dtinfo transcode ct.safetensors --to modelopt -o back.safetensors
dtinfo compare mo.safetensors back.safetensors --bitwise --top 0
echo "required:"
dtinfo transcode mo.safetensors --to compressed-tensors -o no.safetensors --require-lossless
echo "exit $?"
dtinfo transcode mo.safetensors --to compressed-tensors -o no.safetensors --require-lossless --dry-run --json
echo "exit $?"
dtinfo transcode mo.safetensors --to compressed-tensors -o some.safetensors --require-lossless --keep 'b.*' -q
echo "exit $?"
ls
echo "JSON:"
dtinfo transcode mo.safetensors --to compressed-tensors --dry-run --json | jq -c '.options, .totals, .translated[], .tensors[0]'
echo "no reciprocal:"
python3 "$MAKERS/make_mlx.py" tiny.safetensors a.weight=U8:2,16 a.weight_scale=F8_E4M3:2,2/38 a.weight_scale_2=F32:/01000000
dtinfo transcode tiny.safetensors --to compressed-tensors -o no.safetensors
echo "exit $?"
