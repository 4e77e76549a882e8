# the numbers of an ONNX model's quantized weights; the ones that cannot be read are kept or refused by name
cp "$TESTS"/../data/quantized.onnx .
dtinfo quant quantized.onnx --dequant fp32 -o all.safetensors
dtinfo quant quantized.onnx --dequant fp32 --keep twice -o all.safetensors
dtinfo quant quantized.onnx --dequant fp32 --keep twice,open -o all.safetensors -v
for tensor in linear bias blocks floats words bytes table; do
    echo "$tensor"
    dtinfo cast all.safetensors fp32 --select "$tensor" --keep '*' --as text -q -o -
done
dtinfo compare quantized.onnx all.safetensors --only linear,bias,blocks,floats,words,bytes,table
dtinfo quant quantized.onnx --dequant bf16 --select words -q -o words.npy && dtinfo inspect words.npy
dtinfo quant quantized.onnx --dequant bf16 --select linear --layout modelopt -o linear.npy
dtinfo transcode quantized.onnx --to compressed-tensors --select words -o out.safetensors
dtinfo cast quantized.onnx bf16 --select scales,rows,halves -o out.safetensors
