# Rotated for ComfyUI, and back; what is not rotated, and what is refused.
python3 "$MAKERS/make_checkpoint.py" model --single
m=model/model.safetensors
dtinfo quant $m int8 --layout comfy --convrot 16 -o a.safetensors
dtinfo inspect a.safetensors | grep 'layers.0'
dtinfo inspect a.safetensors --raw | grep 'layers.0.self_attn.q'
grep -a -o '{"format": [^}]*}' a.safetensors | sort | uniq -c
dtinfo compare a.safetensors $m | tail -2
dtinfo check a.safetensors
dtinfo explain $m a.safetensors
dtinfo quant $m int8 --layout comfy --convrot 16 -o a.safetensors --dry-run --force --json 2>/dev/null | jq -c '[.options.convrot, [.warnings[].code]]'
echo "int4:"
dtinfo quant $m int4 --layout comfy --convrot 16 -o b.safetensors
dtinfo quant $m int4 --layout comfy --convrot 16 -o b.safetensors --keep '*down*'
dtinfo inspect b.safetensors --raw | grep 'layers.0.self_attn.q'
grep -a -o '{"format": [^}]*}' b.safetensors | sort | uniq -c
dtinfo compare b.safetensors $m | tail -2
dtinfo check b.safetensors
echo "several dtypes:"
dtinfo quant $m fp8_e4m3fn --layout comfy --convrot 16 --type '*.v_proj.*=int4,*.o_proj.*=int8' -o c.safetensors -q
grep -a -o '{"format": [^}]*}' c.safetensors | sort | uniq -c
dtinfo check c.safetensors
echo "copied:"
dtinfo transcode a.safetensors --to comfy -o d.safetensors -q
dtinfo compare a.safetensors d.safetensors --raw
dtinfo transcode b.safetensors --to comfy -o e.safetensors -q
dtinfo compare b.safetensors e.safetensors --raw
echo "options:"
dtinfo quant $m int8 --convrot 16 -o no.safetensors
dtinfo quant $m int8 --layout comfy --convrot 100 -o no.safetensors
dtinfo quant $m int8 --layout comfy --convrot 1024 -o no.safetensors
dtinfo quant $m int8 --layout comfy --convrot 16 --per tensor -o no.safetensors
dtinfo quant $m int8 --layout comfy --convrot 16 --block 32 -o no.safetensors
dtinfo quant $m fp8_e4m3fn --layout comfy --convrot 16 -o no.safetensors
dtinfo quant $m int4 --layout comfy -o no.safetensors
dtinfo quant $m fp32 --dequant --convrot 16 -o no.safetensors
ls no.safetensors 2>&1
