# the device fails: the rest is the CPU's work, and the result is the same
export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so" FAKE_CUDA=fail=kernel:1:700
exec 2>&1
seq 1 5000 | dtinfo cast - fp32 --from text -o in.bin -q
dtinfo cast in.bin bf16 --from fp32 -o cpu.bin -q
dtinfo cast in.bin bf16 --from fp32 -o out.bin --device auto
cmp cpu.bin out.bin
dtinfo cast in.bin bf16 --from fp32 -o out.bin --device auto -q --force
dtinfo cast in.bin bf16 --from fp32 -o none.bin --device cuda
echo "exit $?"
dtinfo cast 1 2 bf16 --device cuda
echo "exit $?"
ls
