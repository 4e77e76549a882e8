dtinfo cast 3.141592653589793 int32
dtinfo cast 2.5 int8 --round nearest-even
dtinfo cast -1.5 uint8
dtinfo cast 300 int8
dtinfo cast 1e-400 bool
