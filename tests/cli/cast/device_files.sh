export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo cast model/model.safetensors bf16 -o cpu.safetensors -q
dtinfo cast model/model.safetensors bf16 -o cuda.safetensors --device cuda
cmp cpu.safetensors cuda.safetensors
dtinfo cast model/model.safetensors e15m16 --as raw --select model.norm.weight -o x.bin --device auto
