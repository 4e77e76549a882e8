# fp8 with one scale, one for each row, and one for each rectangle
mkdir ds
python3 "$MAKERS/make_mlx.py" ds/m.safetensors a.weight=F8_E4M3:130,200/3840 a.weight_scale_inv=F32:2,2/0000803f0000003f \
    b.weight=F8_E4M3:4,4/41 b.weight_scale_inv=F32:1,1/cdcccc3d norm.weight=BF16:16 lm_head.weight=BF16:4,4
echo '{"model_type": "x", "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}, "y": 1e-05}' > ds/config.json
dtinfo transcode ds --to compressed-tensors -o ct
cat ct/config.json
dtinfo compare ds ct
dtinfo transcode ct --to deepseek -o back
cat back/config.json
dtinfo compare ds back --bitwise
echo "modelopt has one scale:"
dtinfo transcode ds --to modelopt -o mo
echo "exit $?"
dtinfo transcode ds --to modelopt -o mo --only 'b.*' -v
cat mo/config.json
echo "scales of activations are stored:"
mkdir static
python3 "$MAKERS/make_mlx.py" static/m.safetensors a.weight=F8_E4M3:4,4/41 a.weight_scale=F32:/cdcccc3d a.input_scale=F32:/cdcc4c3d
echo '{"quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8"}}' > static/config.json
dtinfo transcode static --to compressed-tensors -o static_ct
dtinfo transcode static_ct --to modelopt -o static_back
cat static_ct/config.json static_back/config.json
dtinfo compare static static_back --bitwise --raw
echo "powers of two, and rows:"
python3 "$MAKERS/make_mlx.py" rows.safetensors a.weight=F8_E4M3:4,8/41 a.weight_scale=BF16:4,1/803f
dtinfo transcode rows.safetensors --to compressed-tensors -o rows_ct.safetensors -q
dtinfo compare rows.safetensors rows_ct.safetensors --bitwise
for layout in deepseek modelopt
do
    dtinfo transcode rows.safetensors --to $layout -o no.safetensors
    echo "exit $?"
done
