# blocks of GGUF from codes and scales: a language model without a template, types of some tensors, what is refused
python3 "$MAKERS/make_language_model.py" tiny
exec 2>&1
try() { dtinfo "$@" || echo "exit $?"; }
dtinfo quant tiny mxfp4 --layout modelopt -o mx --keep '*embed*,*norm*,lm_head*' -q
try transcode mx --to gguf -o mx.gguf --threads 1
dtinfo inspect mx.gguf | head -9
dtinfo quant mx fp32 --dequant -o floats -q
dtinfo cast floats fp32 -o floats.gguf -q
dtinfo compare mx.gguf floats.gguf
try transcode mx --to gguf -o parts.gguf --max-shard-size 6KiB --set general.name=Tiny -q
ls parts*
echo "nvfp4, its scale, and fp8:"
python3 "$MAKERS/make_mlx.py" nv.safetensors a.weight=U8:2,32/$(printf '1b%.0s' $(seq 64)) a.weight_scale=F8_E4M3:2,4/3838404030303838 \
    a.weight_scale_2=F32:/0000003f a.input_scale=F32:/0000803f b.weight=F8_E4M3:2,3/383940414243 b.weight_scale=F32:/cdcccc3d c.weight=BF16:4
set="--set general.architecture=flux"
try transcode nv.safetensors --to gguf -o nv.gguf $set
dtinfo inspect nv.gguf --raw | grep weight
dtinfo inspect nv.gguf | grep -e a.weight -e a.scale
try transcode nv.safetensors --to gguf -o wide.gguf $set --type 'b*=fp32' --require-lossless -v
try transcode nv.safetensors --to gguf -o no.gguf $set --require-lossless
dtinfo transcode nv.safetensors --to gguf --dry-run --json $set | sed 's/.*"totals"/"totals"/'
try transcode nv.safetensors --to gguf -o plain.gguf $set --type 'c*=fp32,nothing=bf16' --allow-unmatched
echo "refused:"
try transcode nv.safetensors --to gguf -o no.gguf $set --type 'nothing=bf16'
try transcode nv.safetensors --to gguf -o no.gguf $set --type 'c*=fp16'
try transcode nv.safetensors --to gguf -o no.safetensors $set
try transcode nv.safetensors --to modelopt -o no.gguf --type 'a*=q8_0'
try transcode nv.safetensors --to gguf -o no.gguf $set --type 'a*=q4_0'
try transcode nv.safetensors --to gguf -o no.gguf $set --type 'a*=q4_k'
try transcode nv.safetensors --to gguf -o no.gguf $set --scale-dtype fp16
try transcode nv.safetensors --to gguf -o no.gguf $set --dtype nvfp4
python3 "$MAKERS/make_mlx.py" minus.safetensors a.weight=U8:1,32 a.weight_scale=F8_E4M3:1,4/383838b8 a.weight_scale_2=F32:/0000003f
try transcode minus.safetensors --to gguf -o no.gguf $set
python3 "$MAKERS/make_mlx.py" mx8.safetensors a.weight=F8_E4M3:1,32 a.weight_scale=U8:1,1
try transcode mx8.safetensors --to gguf -o no.gguf $set
python3 "$MAKERS/make_mlx.py" short.safetensors a.weight_packed=U8:1,24 a.weight_scale=F8_E4M3:1,3/383838 a.weight_global_scale=F32:1/0000003f
try transcode short.safetensors --to gguf -o no.gguf $set
try transcode nv.safetensors --to gguf -o no.gguf $set --keep 'a.weight'
try transcode mx --to gguf -o no.gguf --only '*k_proj*'
try transcode mx --to gguf -o kept.gguf --keep '*lm_head*' -q
ls no.gguf
true
