# needs mpfr
dtinfo calc -128 int8
dtinfo calc -2^2 int8 -q
dtinfo calc '3 - 2' int8 -q
dtinfo calc -- '-(128)' int8
