# needs mpfr
dtinfo calc '1/3 + 1/3 + 1/3' all
