export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
dtinfo bench cast fp32:bf16 --size 4KiB --device cuda:1 --loss --time 0.05 -v
