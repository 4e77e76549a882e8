# needs 64-bit
export DTINFO_LIBCUDA="$PWD/none.so"
dtinfo devices --device cuda
