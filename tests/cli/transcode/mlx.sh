# blocks in MLX's modes: the same codes in words of 32 bits, and what its loaders should know
python3 "$MAKERS/make_mlx.py" four.safetensors a.weight_packed=U8:2,32 a.weight_scale=U8:2,2/7f7c8088 norm.weight=F32:2
dtinfo transcode four.safetensors --to mlx -o mx.safetensors
dtinfo inspect mx.safetensors | grep -v '^$'
dtinfo inspect mx.safetensors --raw | grep -v '^$'
dtinfo compare four.safetensors mx.safetensors
echo "as nvfp4:"
dtinfo transcode four.safetensors --to mlx --mode nvfp4 -o nv.safetensors --json | jq -c '.options, .totals, .translated[]'
dtinfo compare four.safetensors nv.safetensors
echo "a tensor scale that MLX stores as the largest magnitude, and no scale of activations:"
python3 "$MAKERS/make_mlx.py" nv2.safetensors a.weight=U8:2,8/67 a.weight_scale=F8_E4M3:2,1/3848 \
    a.weight_scale_2=F32:/cdcccc3d a.input_scale=F32:/0000803f
dtinfo transcode nv2.safetensors --to mlx -o scaled.safetensors
dtinfo inspect scaled.safetensors --raw | grep -v '^$'
dtinfo compare nv2.safetensors scaled.safetensors --rtol 2e-7 | tail -2
dtinfo transcode nv2.safetensors --to mlx -o no.safetensors --require-lossless
echo "exit $?"
echo "other codes than the mode's:"
run() { dtinfo transcode "$@"; echo "exit $?"; }
run four.safetensors --to mlx --mode mxfp8 -o no.safetensors
run four.safetensors --to mlx --mode affine -o no.safetensors
run four.safetensors --to mlx --mode mxfp4 --dtype nvfp4 -o no.safetensors
run four.safetensors --to modelopt --mode mxfp4 -o no.safetensors
echo "written: $(ls no* 2> /dev/null)"
