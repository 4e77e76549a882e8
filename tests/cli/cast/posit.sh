# needs mpfr
# Ties of codes, nothing to zero, nothing beyond the largest number, infinity to NaR.
dtinfo cast 0x1p22 0x1.8p22 1e9 -1e9 1e-30 inf nan posit8
dtinfo cast 1e9 1e-30 posit8 --round zero
dtinfo cast inf posit8 --overflow saturate
dtinfo cast 3.14159 posit16
dtinfo calc '1/3 + 1e6' posit16
dtinfo cast 1 posit
