export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
dtinfo cast 70000 bf16 --device cuda
dtinfo cast 1/3 fp64 --device cuda:1
dtinfo cast nan fp8_e4m3fn --device cuda --json
