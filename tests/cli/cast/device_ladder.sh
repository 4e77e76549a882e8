export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
dtinfo cast 1/3 all --device cuda:1
dtinfo cast 1e400 fp16,fp8_e8m0,int8,complex64 --device cuda
