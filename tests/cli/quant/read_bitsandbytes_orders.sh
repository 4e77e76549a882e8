# LLM.int8() keeps codes in the order of rows; the orders of old kernels are refused by name
for order in 00 01 03 04
do
    python3 "$MAKERS/make_mlx.py" b.safetensors a.weight=I8:2,4/01 a.SCB=F32:2/0000fe42 a.weight_format=U8:/$order
    dtinfo quant b.safetensors fp32 --dequant -o out.safetensors -q
    echo "exit $?"
done
dtinfo inspect out.safetensors --stats | grep a.weight
