# needs mpfr
dtinfo calc '1e-5 * 0.5' fp16 --subnormals keep -q
dtinfo calc '1e-5 * 0.5' fp16 --subnormals flush
