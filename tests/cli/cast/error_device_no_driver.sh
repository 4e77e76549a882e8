# nothing is opened and nothing written
# needs 64-bit
export DTINFO_LIBCUDA=./none.so
exec 2>&1
dtinfo cast 1 bf16 --device cuda
echo "exit $?"
printf 'abcd' | dtinfo cast - bf16 --from fp32 -o out.bin --device cuda
echo "exit $?"
ls
