# auto goes on without one, and says so where it says anything
cp "$PRETEND/libfake_cuda.so" driver.so
export DTINFO_LIBCUDA=./driver.so FAKE_CUDA=devices=0
seq 1 5000 | dtinfo cast - fp32 --from text -o in.bin -q
dtinfo cast in.bin bf16 --from fp32 -o out.bin --device auto
dtinfo cast in.bin bf16 --from fp32 -o out.bin --device auto -q --force
dtinfo cast 70000 bf16 --device auto
