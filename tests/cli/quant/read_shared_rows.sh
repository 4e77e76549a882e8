# Rows that share bytes, packed by ModelOpt and by transformers. BitNet is told by config.json alone.
for name in modelopt_awq bitnet; do
    mkdir $name && cp "$TESTS/../data/$name.safetensors" $name/theirs.safetensors
    cp "$TESTS/../data/${name}_numbers.safetensors" $name.safetensors
    [ $name = bitnet ] && echo '{"quantization_config": {"quant_method": "bitnet", "linear_class": "bitlinear"}}' > bitnet/config.json
    dtinfo inspect $name/theirs.safetensors
    dtinfo compare $name/theirs.safetensors $name.safetensors
    dtinfo quant $name/theirs.safetensors fp32 --dequant -o $name/back.safetensors
    dtinfo compare $name/back.safetensors $name.safetensors
done
sed -i 's/bitlinear/autobitlinear/' bitnet/config.json
dtinfo compare bitnet/theirs.safetensors bitnet.safetensors | head -1
rm bitnet/config.json
dtinfo quant bitnet/theirs.safetensors fp32 --dequant -o no.safetensors; echo "exit $?"
