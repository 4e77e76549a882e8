# integers with groups, from GPTQ through all layouts of integers and back; zero points are 1 to 15
mkdir gptq awq
python3 "$MAKERS/make_gptq.py" gptq/m.safetensors '{"quant_method": "gptq", "bits": 4, "group_size": 32, "checkpoint_format": "gptq"}' \
    qzeros=I32:2,4:34 scales=F16:2,32:48 norm.weight=F32:4
dtinfo transcode gptq --to compressed-tensors -o ct
cat ct/config.json
dtinfo inspect ct --raw -q
dtinfo transcode ct --to awq -o lanes
cat lanes/config.json
dtinfo transcode lanes --to gptq_v2 -o v2
cat v2/config.json
dtinfo transcode v2 --to mlx -o mlx
cat mlx/config.json
dtinfo transcode lanes --to gptq -o back
dtinfo compare gptq back --bitwise --raw
for layout in ct lanes v2 mlx
do
    dtinfo compare gptq $layout
done
echo "products that round in fp16:"
python3 "$MAKERS/make_gptq.py" awq/awq.safetensors '{"quant_method": "awq", "bits": 4, "group_size": 32}' scales=F16:2,32:52
dtinfo transcode awq --to mlx -o rounded
dtinfo transcode awq --to mlx -o strict --require-lossless
echo "exit $?"
test -e strict || echo nothing
echo "mlx, whose scales are powers of two:"
mkdir own
python3 "$MAKERS/make_mlx.py" own/m.safetensors a.weight=U32:8,8 a.scales=F16:8,2/003c0034 a.biases=F16:8,2/00c800c2 \
    b.weight=U32:8,16 b.scales=F16:8,1/0030 b.biases=F16:8,1/00bc
echo '{"quantization": {"group_size": 32, "bits": 4, "b": {"group_size": 64, "bits": 8}}}' > own/config.json
dtinfo transcode own --to compressed-tensors -o own_ct -v
jq -c '.quantization_config | .format, .config_groups[]' own_ct/config.json
dtinfo transcode own_ct --to mlx -o own_back -q
jq -c '.quantization, .quantization_config' own_back/config.json
dtinfo compare own own_back --bitwise --raw
dtinfo transcode own --to awq -o own_awq --only a.weight
echo "no common group:"
dtinfo transcode own --to gptq_v2 -o own_gptq -q
echo "8 bits, symmetric:"
mkdir bytes
python3 "$MAKERS/make_mlx.py" bytes/m.safetensors a.weight=I8:32,64 a.weight_scale=BF16:32,2/803f
dtinfo transcode bytes --to gptq -o bytes_gptq
dtinfo inspect bytes_gptq --raw -q
dtinfo transcode bytes --to compressed-tensors -o bytes_ct
dtinfo compare bytes bytes_ct --bitwise --raw
