# an answer a line, and what the device said on standard error
export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
exec 2>&1
dtinfo cast 0.1 -70000 18446744073709551615 0x1.0000000000000001p-3 uint64 --device cuda
dtinfo cast 2049 2049 2049 2049 fp16 --round stochastic --seed 7 --device cuda
dtinfo cast 1 0.1 1e-60 e15m48 --device cuda
dtinfo cast 300 -1 int8,uint8 --overflow wrap --device cuda -q
dtinfo cast 16842753 bf16 --like torch --device cuda
