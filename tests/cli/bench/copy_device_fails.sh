export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
exec 2>&1
FAKE_CUDA=fail=copy:30:700 dtinfo bench copy --size 4KiB --time 5 --device cuda --json | grep -o '"code":"[a-z_]*"'
FAKE_CUDA=fail=kernel:2:719 dtinfo bench copy --size 4KiB --time 5 --device cuda -q >/dev/null
echo "exit $?"
dtinfo bench copy --device cuda:7
echo "exit $?"
FAKE_CUDA=memory=1M dtinfo bench copy --size 1MiB --device cuda:1
echo "exit $?"
