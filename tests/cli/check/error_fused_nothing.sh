# --fused of modules that are not there; a fused pair; what a list excludes is found where --bits overrides it
exec 2>&1
python3 "$MAKERS/make_mlx.py" model.safetensors m.q_proj.weight=F8_E4M3:2,16 m.q_proj.weight_scale=F32:2,1/0000803f \
    m.k_proj.weight=F8_E4M3:2,16 m.k_proj.weight_scale=F32:1/0000803f m.o_proj.weight=F8_E4M3:2,16 m.o_proj.weight_scale=F32:1/0000803f
cat > config.json <<'END'
{"quantization_config": {"quant_method": "compressed-tensors", "ignore": ["m.o_proj"], "config_groups": {"group_0":
 {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}}}}}
END
dtinfo check model.safetensors --quantized --bits 8 --fused q_proj,nope; echo "exit $?"
dtinfo check model.safetensors --quantized --bits 8 --fused q_proj,k_proj -v; echo "exit $?"
