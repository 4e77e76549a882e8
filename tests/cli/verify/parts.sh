# all parts of a quantized tensor are compared: more, fewer and other ones than the recipe makes are differences
python3 "$MAKERS/make_checkpoint.py" . --single
w=model.layers.0.self_attn.q_proj.weight
verify() { echo "{\"recipe\": \"$1\"}" > r.json; dtinfo verify "$2" "$3" --recipe r.json; echo "exit $?"; }
dtinfo cast model.safetensors fp32 --select $w -o a.safetensors -q 2>/dev/null
dtinfo quant a.safetensors int8 --per channel --affine -o b.safetensors -q
verify 'quant int8 --per channel --affine' a.safetensors b.safetensors
verify 'quant int8 --per channel' a.safetensors b.safetensors
dtinfo quant a.safetensors int8 --per channel -o c.safetensors -q
verify 'quant int8 --per channel --affine' a.safetensors c.safetensors
verify 'quant int8' a.safetensors c.safetensors
verify 'quant uint8 --per channel' a.safetensors c.safetensors
verify 'quant int4 --per channel' a.safetensors c.safetensors
verify kept b.safetensors c.safetensors
verify 'cast fp32' b.safetensors c.safetensors
