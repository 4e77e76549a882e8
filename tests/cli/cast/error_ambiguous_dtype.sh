dtinfo cast 1 fp8
