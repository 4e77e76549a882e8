export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
exec 2>&1
seq 2047 2050 | dtinfo cast - fp16 --device cuda
printf '1\nx\n3\n' | dtinfo cast - fp16 --device cuda -q
echo "exit $?"
