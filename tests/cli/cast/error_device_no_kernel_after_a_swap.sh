# a kernel for the first step alone does not do
export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
printf 'abcdefgh' >in.bin
dtinfo cast in.bin e15m48 --from fp64 --endian big -o out.bin --device cuda 2>&1
echo "exit $?"
ls
