try() { dtinfo quant "$@" || echo "exit $?"; }
python3 "$MAKERS/make_checkpoint.py" model
python3 "$MAKERS/make_checkpoint.py" one --single
python3 "$MAKERS/make_checkpoint.py" files --others
mv one/model.safetensors one.safetensors
mkfifo pipe
exec 2>&1
try one.safetensors
try one.safetensors int8
try one.safetensors int8 mxfp4 -o x.safetensors
try one.safetensors int8,mxfp4 -o x.safetensors
try one.safetensors mxfp5 -o x.safetensors
try one.safetensors bf16 -o x.safetensors
try one.safetensors fp6_e3m2 -o x.safetensors
try one.safetensors nf4 -o x.safetensors --layout modelopt
try one.safetensors int8 -o x.safetensors --layout modelopt --affine
try one.safetensors int8 -o x.safetensors --per channel --axis 2
try one.safetensors int8 -o x.safetensors --per channel --axis 1 --keep '*norm*,*bias*' --allow-unmatched
try one.safetensors mxfp4 -o x.safetensors
try one.safetensors int8 -o x.safetensors --block 7
try one.safetensors mxfp4 -o x.safetensors --layout modelopt --pad --select '*weight'
try one.safetensors int4 -o x.safetensors --nibble high
try one.safetensors int8 -o x.safetensors --min 0
try one.safetensors int8 -o x.safetensors --select none
try one.safetensors int8 -o x.npy
try one.safetensors int8 -o x.bin
try one.safetensors int8 -o one.safetensors
try one.safetensors int8 -o one.safetensors --dry-run
try one.safetensors int8 -o new/
try one.safetensors int8 -o - | head -c 10
try one.safetensors int8 -o /dev/full
try one.safetensors int8 -o x.safetensors --max-memory 1M
try one.safetensors int8 -o x.safetensors --threads 0
try - int8 -o x.safetensors
try pipe int8 -o x.safetensors
try missing.safetensors int8 -o x.safetensors
try model int8 -o one.safetensors/
try files/model.gguf int8 -o x.safetensors
ls
