# shards, their index, config.json and what is beside them; several ways of quantizing in one checkpoint
python3 "$MAKERS/make_checkpoint.py" model
printf '{\n  "rms_norm_eps": 1e-05,\n  "rope_theta": 1000000.0\n}\n' > model/config.json
printf 'tokens' > model/tokenizer.model
dtinfo quant model nvfp4 --layout modelopt --tensor-scale 0.25 -o mo --keep '*norm*,*embed*,*down*,lm_head*' -q
ls mo
dtinfo transcode mo --to compressed-tensors -o ct
ls ct
cat ct/config.json
dtinfo compare mo ct --top 0
dtinfo transcode ct --to modelopt -o back -q
cmp mo/config.json back/config.json
cmp mo/hf_quant_config.json back/hf_quant_config.json
dtinfo compare mo back --bitwise --raw
echo "--no-copy:"
dtinfo transcode mo --to compressed-tensors -o bare --no-copy -q
ls bare
echo "two groups:"
dtinfo quant model nvfp4 --layout modelopt --tensor-scale 0.25 -o one --only '*q_proj*,*k_proj*' -q
dtinfo quant one mxfp8_e4m3 --layout modelopt -o two --only '*v_proj*' -q
cp model/config.json two
rm two/hf_quant_config.json
dtinfo transcode two --to compressed-tensors -o groups
jq -c '.quantization_config | .format, .config_groups[]' groups/config.json
dtinfo transcode two --to modelopt -o none
jq -c . none/config.json
echo "experts, and scales of attention:"
mkdir experts
cp "$TESTS/../data/gpt_oss.safetensors" experts/m.safetensors
echo '{"quantization_config": {"quant_method": "mxfp4"}}' > experts/config.json
dtinfo transcode experts --to compressed-tensors -o none_ct
dtinfo transcode experts --to gpt-oss -o experts_oss
jq -c . experts_oss/config.json
mkdir cache
python3 "$MAKERS/make_mlx.py" cache/m.safetensors a.k_proj.weight=U8:2,16 a.k_proj.weight_scale=F8_E4M3:2,2/38 \
    a.k_proj.weight_scale_2=F32:/0000003f a.k_proj.input_scale=F32:/0000803f a.k_proj.k_scale=F32:/0000803f
echo '{"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16}}' > cache/config.json
dtinfo transcode cache --to compressed-tensors -o cache_ct
dtinfo inspect cache_ct --raw
jq -c .quantization_config.config_groups.group_0 cache_ct/config.json
dtinfo transcode cache_ct --to modelopt -o cache_back -q
jq -c .quantization_config cache_back/config.json
dtinfo compare cache cache_back --raw --bitwise
