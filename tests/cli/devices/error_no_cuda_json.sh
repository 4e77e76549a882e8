# needs 64-bit
export DTINFO_LIBCUDA="$PWD/none.so"
dtinfo devices --device cuda:7 --json 2> /dev/null
