export DTINFO_LIBCUDA="$PWD/none.so"
dtinfo devices --device cuda:7 --json 2> /dev/null
