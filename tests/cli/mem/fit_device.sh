export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so" DTINFO_LIBNVML="$PRETEND/libfake_nvml.so"
dtinfo mem 70B bf16,fp8_e4m3fn --fit cuda
dtinfo mem 70B bf16,mxfp4 --fit cuda:1
echo "exit $?"
dtinfo mem 7B bf16 --fit auto --json
dtinfo mem 7B bf16 --fit cuda:7
echo "exit $?"
export DTINFO_LIBNVML=/none FAKE_CUDA=memory=1G,devices=1
dtinfo mem 500M bf16 --fit auto
