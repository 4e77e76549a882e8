# To ComfyUI's layout and back: the bytes are those of quant, and nothing is lost.
python3 "$MAKERS/make_checkpoint.py" model --single
for dtype in nvfp4 mxfp8_e4m3 fp8_e4m3fn int8; do
    dtinfo quant model/model.safetensors $dtype -o plain.safetensors --layout modelopt --select '*.0.self_attn.[qo]_proj*' --force -q
    dtinfo quant model/model.safetensors $dtype -o comfy.safetensors --layout comfy --select '*.0.self_attn.[qo]_proj*' --force -q
    dtinfo transcode plain.safetensors --to comfy -o out.safetensors --force
    dtinfo compare out.safetensors plain.safetensors
    cmp out.safetensors comfy.safetensors && echo "the same file"
done
dtinfo quant model/model.safetensors nvfp4 -o plain.safetensors --layout modelopt --select '*.0.self_attn.[qo]_proj*' --force -q
dtinfo transcode plain.safetensors --to comfy -o out.safetensors --force -q
dtinfo transcode out.safetensors --to modelopt -o back.safetensors -q
cmp back.safetensors plain.safetensors && echo "and back"
dtinfo quant model/model.safetensors mxfp4 -o mx.safetensors --select '*.0.self_attn.[qo]_proj*' -q
dtinfo transcode mx.safetensors --to comfy --dtype nvfp4 -o nv.safetensors
dtinfo compare mx.safetensors nv.safetensors
echo "errors:"
dtinfo transcode mx.safetensors --to comfy -o no.safetensors
dtinfo quant model/model.safetensors nf4 --layout bitsandbytes -o nf4.safetensors --select '*.0.self_attn.[qo]_proj*' -q
dtinfo transcode nf4.safetensors --to comfy -o no.safetensors
dtinfo quant model/model.safetensors int4 --per channel -o int4.safetensors --select '*.0.self_attn.[qo]_proj*' -q
dtinfo transcode int4.safetensors --to comfy -o no.safetensors
dtinfo quant model/model.safetensors fp8_e4m3fn --per channel -o rows.safetensors --select '*.0.self_attn.[qo]_proj*' -q
dtinfo transcode rows.safetensors --to comfy -o no.safetensors
