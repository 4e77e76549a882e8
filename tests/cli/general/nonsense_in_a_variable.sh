DTINFO_CPU=nonsense dtinfo cast 1 bf16 --json
