# the first device that there is a program for, not the first of all
export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so" DTINFO_LIBNVML=/nowhere/nvml FAKE_CUDA=fail=cuDeviceGetAttribute:1:1
dtinfo devices --device auto
