# true values that are asked for cannot be left out
export DTINFO_LIBMPFR=./missing.so
dtinfo calc '1+1' fp16; echo "exit $?"
dtinfo calc '1+1' fp16 --true-value always
