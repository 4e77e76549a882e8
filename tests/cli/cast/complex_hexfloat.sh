dtinfo cast 0x1p3+1e-5j complex64 -q
