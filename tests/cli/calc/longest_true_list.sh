# the longest list whose true value is computed on request lacks libmpfr alone; one element more is too many
export DTINFO_LIBMPFR=./missing.so
dtinfo calc 'sum(repeat(0, 4194304))' fp16 --true-value always 2>&1; echo "exit $?"
dtinfo calc 'sum(repeat(0, 4194305))' fp16 --true-value always 2>&1; echo "exit $?"
