# tensors of an ONNX model into other files; models are not written
cp "$TESTS"/../data/graph.onnx "$TESTS"/../data/external.onnx "$TESTS"/../data/external.data .
dtinfo cast external.onnx bf16 -o external.safetensors
dtinfo inspect external.safetensors
dtinfo compare external.onnx external.safetensors
dtinfo cast graph.onnx int8 --ints --select codes -q -o codes.npy
dtinfo cast codes.npy int8 --as text -q -o -
dtinfo quant graph.onnx int8 --select weight -q -o weight.safetensors && dtinfo inspect weight.safetensors -q
dtinfo cast graph.onnx bf16 -o graph.safetensors
dtinfo cast external.onnx bf16 -o half.onnx
