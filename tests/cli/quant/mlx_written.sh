# Written for MLX: words, scales and biases, config.json, and back.
mkdir model
python3 "$MAKERS/make_checkpoint.py" made --single
dtinfo cast made/model.safetensors bf16 --select '*.0.self_attn*,*.0.input*' -o model/model.safetensors -q
echo '{"model_type": "llama", "torch_dtype": "bfloat16"}' >model/config.json
dtinfo quant model uint4 --layout mlx --block 32 -o four
dtinfo inspect four --raw
cat four/config.json; echo
dtinfo explain model four
dtinfo quant four fp32 --dequant -o back.safetensors -q
dtinfo compare four back.safetensors
echo "several schemes:"
dtinfo quant model uint4 --layout mlx --block 32 --type '*.v_proj.*=uint6,*.o_proj.*=uint3' --keep '*q_proj*' -o mixed -q
cat mixed/config.json; echo
dtinfo check mixed --quantized --loader mlx
dtinfo quant model uint8 --layout mlx --block 32 -o eight --dry-run --json |
    jq -c '.output.layout, .recipe.zero_point_rule, .recipe.division, [.tensors[1] | .to, (.parts | map([.part, .dtype, .shape]))]'
echo "options:"
dtinfo quant model int4 --layout mlx -o no
dtinfo quant model uint4 --layout mlx --block 16 -o no
dtinfo quant model uint4 --layout mlx --symmetric -o no
dtinfo quant model uint4 --layout mlx -o no
dtinfo quant model uint5 -o no
dtinfo quant back.safetensors uint4 --layout mlx --block 32 -o no.npz
