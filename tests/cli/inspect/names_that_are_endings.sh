# what is named as a part and no more belongs to no tensor: it would have no name
python3 "$MAKERS/make_mlx.py" model.safetensors _blocks=U8:2,3,1,16 _scales=U8:2,3,1 x_blocks=U8:2,3,1,16 x_scales=U8:2,3,1
dtinfo inspect model.safetensors 2>&1
