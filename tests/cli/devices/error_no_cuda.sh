export DTINFO_LIBCUDA="$PWD/none.so"
dtinfo devices --device cuda
