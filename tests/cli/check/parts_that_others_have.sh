# without a configuration: the part that one tensor of the layout has is missing at the others; where none has it, it is not
make() { python3 "$MAKERS/make_mlx.py" "$@"; }
make nvfp4.safetensors a.weight=U8:2,8 a.weight_scale=F8_E4M3:2,1/38 a.weight_scale_2=F32:/0000803f b.weight=U8:2,8 b.weight_scale=F8_E4M3:2,1/38
make none.safetensors a.weight=U8:2,8 a.weight_scale=F8_E4M3:2,1/38 b.weight=U8:2,8 b.weight_scale=F8_E4M3:2,1/38
make zeros.safetensors a.qweight=I32:64,4 a.qzeros=I32:2,4 a.scales=F16:2,32/003c b.qweight=I32:64,4 b.scales=F16:2,32/003c
make middle.safetensors a.qweight=I32:64,4 a.scales=F16:2,32/003c b.qweight=I32:64,4 b.scales=F16:2,32/003c
for file in nvfp4 none zeros middle
do dtinfo check $file.safetensors --quantized -v; echo "exit $?"
done
