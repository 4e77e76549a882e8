export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
exec 2>&1
dtinfo cast 1 bf16 --device cuda:7
echo "exit $?"
printf 'abcd' | dtinfo cast - bf16 --from fp32 -o out.bin --device cuda:7 --json
echo "exit $?"
ls
