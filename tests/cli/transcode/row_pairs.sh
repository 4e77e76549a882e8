# pairs of rows that share bytes become columns of words, with the same numbers
python3 "$MAKERS/make_mlx.py" pairs.safetensors a.weight=U8:16,32 a.weight_scale=BF16:32,2
dtinfo quant pairs.safetensors fp32 --dequant -q -o numbers.safetensors
for layout in gptq gptq_v2 awq
do
    dtinfo transcode pairs.safetensors --to $layout --require-lossless -q -o $layout.safetensors
    dtinfo quant $layout.safetensors fp32 --dequant --bits 4 -q -o of_$layout.safetensors
    dtinfo compare numbers.safetensors of_$layout.safetensors
done
