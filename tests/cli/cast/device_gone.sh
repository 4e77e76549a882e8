# the first device has gone since the devices were counted
export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so" FAKE_CUDA='fail=cuDeviceGet:1:999,fail=cuDeviceGet:2:999'
printf 'abcdefgh' > in.bin
dtinfo cast in.bin bf16 --from fp32 -o out.bin --device auto
