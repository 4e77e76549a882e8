python3 "$MAKERS/make_checkpoint.py" .
python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo mem . bf16
dtinfo mem model.gguf q8_0
dtinfo mem weights.npy arrays.npz model-00001-of-00002.safetensors 1K fp16
dtinfo mem --input weights.npy int8
dtinfo mem - --from fp16 bf16 < weights.npy
