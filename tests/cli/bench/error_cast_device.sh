# a device that fails, a dtype it has no kernels for, more than its memory, none at all
export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
exec 2>&1
try() {
    dtinfo bench cast --time 600 --device cuda "$@"
    echo "exit $?"
}
FAKE_CUDA=fail=kernel:30:700 try fp32:bf16 --size 4KiB --json
try fp64:e15m48 --size 4KiB --json
try fp32:bf16 --size 4TiB --json
FAKE_CUDA=devices=0 DTINFO_LIBCUDA=./none.so try fp32:bf16 --size 4KiB --json
