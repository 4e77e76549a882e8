dtinfo cast 1 x bf16 --json
