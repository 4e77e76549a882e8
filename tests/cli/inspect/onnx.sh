# an ONNX model: every graph, constants, typed fields, strings and sparse tensors; and data in another file
cp "$TESTS"/../data/graph.onnx "$TESTS"/../data/external.onnx "$TESTS"/../data/external.data .
dtinfo inspect graph.onnx -v
dtinfo inspect graph.onnx --stats --only 'steps,codes,*bias' | head -n 7
dtinfo inspect external.onnx -v
dtinfo check external.onnx --valid --no-nan
dtinfo mem external.onnx bf16
