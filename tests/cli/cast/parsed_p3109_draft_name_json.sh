dtinfo cast 1 binary10p3 --json
