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
python3 "$MAKERS/make_mlx.py" nv.safetensors a.weight=U8:2,32/1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b a.weight_scale=F8_E4M3:2,4/3838404030303838 \
    a.weight_scale_2=F32:/0000003f a.input_scale=F32:/0000803f b.weight=F8_E4M3:2,3/383940414243 b.weight_scale=F32:/cdcccc3d c.weight=BF16:4
flux() { try transcode "$@" --to gguf --set general.architecture=flux; }
flux nv.safetensors -o nv.gguf
dtinfo inspect nv.gguf --raw | grep weight
dtinfo inspect nv.gguf | grep -e a.weight -e a.scale
flux nv.safetensors -o wide.gguf --type 'b*=fp32' --require-lossless -v
flux nv.safetensors -o no.gguf --require-lossless
flux nv.safetensors --dry-run --json | sed 's/.*"totals"/"totals"/'
flux nv.safetensors -o plain.gguf --type 'c*=fp32,nothing=bf16' --allow-unmatched
echo "refused:"
flux nv.safetensors -o no.gguf --type 'nothing=bf16'
flux nv.safetensors -o no.gguf --type 'c*=fp16'
flux nv.safetensors -o no.safetensors
try transcode nv.safetensors --to modelopt -o no.gguf --type 'a*=q8_0'
flux nv.safetensors -o no.gguf --type 'a*=q4_0'
flux nv.safetensors -o no.gguf --type 'a*=q4_k'
flux nv.safetensors -o no.gguf --scale-dtype fp16
flux nv.safetensors -o no.gguf --dtype nvfp4
python3 "$MAKERS/make_mlx.py" minus.safetensors a.weight=U8:1,32 a.weight_scale=F8_E4M3:1,4/383838b8 a.weight_scale_2=F32:/0000003f
flux minus.safetensors -o no.gguf
python3 "$MAKERS/make_mlx.py" mx8.safetensors a.weight=F8_E4M3:1,32 a.weight_scale=U8:1,1
flux mx8.safetensors -o no.gguf
python3 "$MAKERS/make_mlx.py" short.safetensors a.weight_packed=U8:1,24 a.weight_scale=F8_E4M3:1,3/383838 a.weight_global_scale=F32:1/0000003f
flux short.safetensors -o no.gguf
flux nv.safetensors -o no.gguf --keep 'a.weight'
try transcode mx --to gguf -o no.gguf --only '*k_proj*'
try transcode mx --to gguf -o kept.gguf --keep '*lm_head*' -q
ls no.gguf
true
