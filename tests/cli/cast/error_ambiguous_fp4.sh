dtinfo cast 1 fp4 --json
