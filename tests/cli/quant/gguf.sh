python3 "$MAKERS/make_checkpoint.py" files --others
cp files/model.gguf .
exec 2>&1
try() { dtinfo quant "$@" || echo "exit $?"; }
try model.gguf q8_0 -o a.gguf --threads 1
try model.gguf q8_0 -o a.gguf --force --keep '*attn*' --type 'token*=bf16,*norm*=fp16,*=q8_0' -v --threads 1 | sed 's/level [a-z0-9]* /level X /'
try a.gguf q8_0 --dry-run -o b.gguf
try a.gguf q8_0 --dry-run -o b.gguf --quant-only 'token*' --type 'token*=q8_0' -q
try model.gguf q8_0 -o b.gguf --type 'nothing*=q8_0'
try model.gguf q8_0 -o b.gguf --type 'nothing*=q8_0' --allow-unmatched -q
try model.gguf q8_0 -o b.gguf --type 'token*'
try model.gguf q8_0 -o b.gguf --type 'token*=int8'
try model.gguf iq2_xxs -o b.gguf
try model.gguf Q4_K_M -o b.gguf
try model.gguf q8_0 -o b.gguf --pad
try model.gguf q8_0 -o b.gguf --block 32
try a.gguf q4_0 -o b.gguf --bits 4
cp "$TESTS/../data/mlx.safetensors" .
try mlx.safetensors q8_0 -o b.gguf --template model.gguf --bits 4 --dry-run
try mlx.safetensors q8_0 -o b.gguf --template model.gguf --layout modelopt
try model.gguf q8_0 -o out.safetensors --type 'token*=q8_0'
try model.gguf q8_0 -o out.safetensors --template model.gguf
dtinfo cast a.gguf fp32 -o plain.safetensors --select '*norm*' -q
try plain.safetensors q8_0 -o b.gguf
try plain.safetensors q8_0 -o b.gguf --template model.gguf
try model.gguf q8_0 -o b.gguf --template plain.safetensors
dtinfo cast 1 bf16 --like model.gguf
try 1 int8 --like model.gguf
ls
