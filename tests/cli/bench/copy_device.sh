export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
dtinfo bench copy --size 10001 --time 0.01 --device cuda:1
