export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
seq 1 0.1 200 | dtinfo cast - fp8_e4m3fn --from text -o out.bin --device cuda
seq 1 0.1 200 | dtinfo cast - fp64 --from text -o out.bin --force --device cuda
seq 1 0.1 200 | dtinfo cast - fp64 --from text -o out.bin --force --device auto
