# what the driver does not report is unknown, not 0.0 and software
export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so" DTINFO_LIBNVML=/nowhere/nvml FAKE_CUDA='devices=1,fail=cuDeviceGetAttribute:1+:1'
dtinfo devices --device cuda
dtinfo devices --device cuda --json
dtinfo devices -q
