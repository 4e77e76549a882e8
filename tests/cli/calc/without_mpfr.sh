export DTINFO_LIBMPFR=./missing.so
dtinfo calc '1 + 2^-12' fp16
dtinfo calc 'exp(1)' fp16
