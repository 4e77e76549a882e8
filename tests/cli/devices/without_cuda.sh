# needs 64-bit
export DTINFO_LIBCUDA="$PWD/none.so"
dtinfo devices
dtinfo devices -q
dtinfo devices --device auto -q
