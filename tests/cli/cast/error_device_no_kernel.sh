export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
exec 2>&1
printf 'abcdefgh' >in.bin
dtinfo cast in.bin e15m48 --from fp64 -o out.bin --device cuda
echo "exit $?"
dtinfo cast in.bin e15m48 --from fp64 -o out.bin --device auto
