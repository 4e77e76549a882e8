export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
seq 1 5000 | dtinfo cast - fp32 --from text -o in.bin -q
dtinfo cast in.bin bf16 --from fp32 -o out.bin --device cuda --threads 2 --json
