# the code does not fit beside them in 80 columns
dtinfo cast 0.1 fp64 | head -n 4
dtinfo cast -1 int64 | head -n 3
dtinfo cast 0.5 e15m48 | head -n 4
dtinfo cast 0.5 fp8_e8m0 | head -n 3
