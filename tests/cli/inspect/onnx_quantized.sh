# weights of an ONNX model: codes and scales as one tensor, by the nodes that use them; what does not fit is as it is stored
cp "$TESTS"/../data/quantized.onnx .
dtinfo inspect quantized.onnx
dtinfo inspect quantized.onnx --stats --only 'bias,blocks,floats,table'
dtinfo inspect quantized.onnx --raw | tail -n 4
dtinfo inspect quantized.onnx --json | tr '{' '\n' | grep '"layout":"onnx"' | head -n 3
dtinfo mem quantized.onnx
dtinfo check quantized.onnx --quantized
