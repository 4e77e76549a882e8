python3 "$MAKERS/make_checkpoint.py" files --others
exec 2>&1
try() { dtinfo cast "$@" || echo "exit $?"; }
try files/weights.npy fp4_e2m1 -o low.safetensors
try files/weights.npy fp4_e2m1 -o low.safetensors --packing low -q && tail -c 12 low.safetensors | od -An -tx1
try files/weights.npy fp4_e2m1 -o high.safetensors --packing high -q && tail -c 12 high.safetensors | od -An -tx1
try files/weights.npy fp4_e2m1 -o bytes.safetensors --packing bytes
try low.safetensors fp32 -o back.safetensors
try low.safetensors fp32 -o back.safetensors --from-packing low -q && tail -c 96 back.safetensors | od -An -tfF | head -3
try low.safetensors fp4_e2m1 -o same.safetensors && cmp low.safetensors same.safetensors
try low.safetensors fp4_e2m1 -o turned.safetensors --from-packing low --packing high -q && cmp high.safetensors turned.safetensors
try low.safetensors fp4_e2m1 -o codes.npy -q --from-packing low && tail -c 24 codes.npy | od -An -tx1
try low.safetensors fp4_e2m1 -o codes.npy --packing low
try files/weights.npy bf16 -o x.npy --packing low
try files/weights.npy bf16 -o x.npy --from-packing low
try files/columns.npy fp6_e3m2 -o x.safetensors --packing low
