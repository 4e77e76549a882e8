# a pattern of modelopt whose only special character begins a set: it is no name
python3 "$MAKERS/make_mlx.py" model.safetensors m.q_proj.weight=F8_E4M3:2,16 m.q_proj.weight_scale=F32:/0000803f \
    m.k_proj.weight=F8_E4M3:2,16 m.k_proj.weight_scale=F32:/0000803f
echo '{"quantization_config": {"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["m.[ko]_proj"]}}' > config.json
dtinfo check model.safetensors --quantized
