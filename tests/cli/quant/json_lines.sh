dtinfo quant 300 -1e39 int8,nvfp4 --jsonl --like onnx --nibble low
