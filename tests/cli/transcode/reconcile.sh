# Modules that loaders fuse have tensor scales of their own: each matrix gets its largest, and scales of blocks are rounded once.
python3 "$MAKERS/make_fused.py" in compressed-tensors 1 3 2
dtinfo check in --quantized; echo "exit $?"
dtinfo transcode in --reconcile -o out --threads 1; echo "exit $?"
dtinfo check out --quantized -v; echo "exit $?"
cmp in/config.json out/config.json && ls out
dtinfo transcode in --reconcile -o again --only '*experts.0*' -v --threads 1
dtinfo transcode in --reconcile --dry-run --json --only '*experts.0*' | jq -c '.options, .output.layout, .totals, .translated[]'
dtinfo check in --quantized --json | jq -c '.files[].fused'
echo "lossless:"
dtinfo transcode in --reconcile -o no --require-lossless; echo "exit $?"
dtinfo transcode out --reconcile -o same --require-lossless --threads 1; echo "exit $?"
echo "fp8:"
python3 "$MAKERS/make_fused.py" fp8 fp8 1 1
dtinfo transcode fp8 --reconcile -o fp8.safetensors --keep '*experts*' --threads 1; echo "exit $?"
echo "a group that the table does not have:"
dtinfo transcode in --reconcile --fused q_proj,k_proj,v_proj,o_proj -o four --only '*self_attn*' -v --threads 1
echo "errors:"
dtinfo transcode in --reconcile -o no --only '*q_proj*'; echo "exit $?"
dtinfo transcode in --reconcile -o no --fused q_proj,to_q; echo "exit $?"
dtinfo transcode in --reconcile -o no --fused q_proj; echo "exit $?"
dtinfo transcode in --reconcile -o no --to modelopt; echo "exit $?"
dtinfo transcode in --to modelopt -o no --fused q_proj,k_proj; echo "exit $?"
python3 "$MAKERS/make_mlx.py" one.safetensors a.up_proj.weight=U8:2,16 a.up_proj.weight_scale=F8_E4M3:2,2/38 a.up_proj.weight_scale_2=F32:/0000003f
dtinfo transcode one.safetensors --reconcile -o no.safetensors; echo "exit $?"
