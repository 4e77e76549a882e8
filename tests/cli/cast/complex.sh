dtinfo cast 1+2j complex64
dtinfo cast 1/3-0.1j complex64 --json
dtinfo cast -q 2.5 complex128
