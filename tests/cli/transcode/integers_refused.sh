# integers that a layout does not have: one line that names the tensor, and nothing is written
refused() { rm -rf out; dtinfo transcode "$1" --to "$2" -o out; echo "exit $?"; ls out 2> /dev/null; }
mkdir v1 act wide mlx one row bnb stack half
python3 "$MAKERS/make_gptq.py" v1/m.safetensors '{"quant_method": "gptq", "bits": 4, "group_size": 32}' qzeros=I32:2,4:255
echo "zero points that are 0 have no minus one:"
refused v1 gptq
dtinfo transcode v1 --to gptq_v2 -o v2 -q
dtinfo compare v1 v2
python3 "$MAKERS/make_mlx.py" act/m.safetensors w.qweight=I32:8,32 w.qzeros=I32:2,4/77 \
    w.scales="F16:2,32/$(printf '003c%.0s' $(seq 32))$(printf '0040%.0s' $(seq 32))" \
    w.g_idx=I32:64/0100000000000000
echo '{"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": true}}' > act/config.json
echo "groups in an order of their own:"
for layout in awq mlx
do
    refused act $layout
done
dtinfo transcode act --to compressed-tensors -o act_ct -q
jq -c .quantization_config.config_groups act_ct/config.json
dtinfo compare act act_ct
dtinfo transcode act --to gptq_v2 -o act_v2 -q
jq -c .quantization_config act_v2/config.json
dtinfo compare act act_v2
echo "widths:"
python3 "$MAKERS/make_mlx.py" wide/m.safetensors a.weight=U32:32,12 a.scales=F16:32,2/003c a.biases=F16:32,2/0044 b.weight=U32:8,24 \
    b.scales=F16:8,4/003c b.biases=F16:8,4/00c4
echo '{"quantization": {"group_size": 32, "bits": 6}}' > wide/config.json
for layout in compressed-tensors gptq awq mlx
do
    refused wide $layout
done
echo "biases:"
python3 "$MAKERS/make_mlx.py" mlx/m.safetensors a.weight=U32:8,8 a.scales=F16:8,2/003c a.biases=F16:8,2/00c400c5
echo '{"quantization": {"group_size": 32, "bits": 4}}' > mlx/config.json
python3 "$MAKERS/make_mlx.py" half/m.safetensors a.weight=U32:8,8 a.scales=F16:8,2/003c a.biases=F16:8,2/00c420c4
echo '{"quantization": {"group_size": 32, "bits": 4}}' > half/config.json
refused mlx gptq
refused half awq
refused half mlx
echo "scales:"
python3 "$MAKERS/make_mlx.py" one/m.safetensors a.weight=I8:32,64 a.weight_scale=F32:/0000803f
refused one gptq
refused one mlx
python3 "$MAKERS/make_mlx.py" row/m.safetensors a.weight=I8:32,64 a.weight_scale=F32:32,1/0000803f
refused row gptq
refused row mlx
refused row awq
echo "bitsandbytes rounds twice:"
python3 "$MAKERS/make_mlx.py" bnb/m.safetensors a.weight=I8:4,64 a.SCB=F32:4/0000fe423333733f
refused bnb compressed-tensors
python3 "$MAKERS/make_mlx.py" bnb/m.safetensors a.weight=I8:4,64 a.SCB=F32:4/0000fe420000fe41
dtinfo transcode bnb --to compressed-tensors -o bnb_ct
dtinfo compare bnb bnb_ct
echo "stacks, blocks, names:"
python3 "$MAKERS/make_mlx.py" stack/m.safetensors a.weight=U32:2,8,8 a.scales=F16:2,8,2/003c a.biases=F16:2,8,2/00c4
echo '{"quantization": {"group_size": 32, "bits": 4}}' > stack/config.json
refused stack awq
dtinfo transcode stack --to compressed-tensors -o stack_ct
python3 "$MAKERS/make_mlx.py" mx.safetensors a.weight=F8_E4M3:8,16 a.weight_scale=F32:/0000803f
refused mx.safetensors mlx
python3 "$MAKERS/make_mlx.py" named.safetensors a=I8:32,64 a_scale=F16:32,2/003c
refused named.safetensors mlx
