try() { dtinfo cast "$@" || echo "exit $?"; }
python3 "$MAKERS/make_checkpoint.py" model
python3 "$MAKERS/make_checkpoint.py" one --single
python3 "$MAKERS/make_checkpoint.py" files --others
mv one/model.safetensors one.safetensors
exec 2>&1
try one.safetensors
try one.safetensors bf16
try one.safetensors bf16 fp16 -o x.safetensors
try one.safetensors all -o x.safetensors
try one.safetensors complex64 -o x.safetensors
try one.safetensors tf32 -o x.safetensors
try one.safetensors bf61 -o x.safetensors
try one.safetensors bf16 -o x.npy
try one.safetensors bf16 -o x.bin
try one.safetensors bf16 -o x.gguf
try one.safetensors bf16 -o x.safetensors.index.json
try one.safetensors bf16 -o new/
try one.safetensors bf16 -o one.safetensors
try one.safetensors bf16 -o one.safetensors --dry-run
try one.safetensors bf16 -o x.safetensors --select none
try one.safetensors bf16 -o - --json
try one.safetensors bf16 -o x.safetensors -q --report
try one.safetensors bf16 -o x.safetensors --stacks
try one.safetensors bf16 -o x.safetensors --digits 3
try one.safetensors bf16 -o x.safetensors --count 3
try one.safetensors bf16 -o x.safetensors --shape 3
try one.safetensors bf16 -o x.safetensors --endian big
try one.safetensors bf16 -o x.safetensors --packing low
try one.safetensors bf16 -o x.safetensors --max-memory 1M
try one.safetensors bf16 -o x.safetensors --threads 0
try one.safetensors bf16 -o x.safetensors --progress sometimes
try one.safetensors bf16 --as text --threads 2
try one.safetensors int8 -o x.safetensors --overflow wrap --like torch
try model bf16 -o one.safetensors
try model bf16 -o one.safetensors --as npy
try model bf16 -o model
try model bf16 -o files/weights.npy/x/
try files/model.gguf bf16 -o x.safetensors
try missing.safetensors bf16 -o x.safetensors
try missing.npy
try 3 bf16 --only x
try one.safetensors bf16 --from fp32 --only x -o x.bin
try - bf16 --from text --as npy -o x.npy
ls
