# tensors of ONNX models are quantized; a model without quantized weights is refused
cp "$TESTS"/../data/graph.onnx .
dtinfo quant graph.onnx int8 --select weight -q -o weight.safetensors
dtinfo inspect weight.safetensors --raw | head -n 4
dtinfo quant graph.onnx bf16 --dequant -o back.safetensors
