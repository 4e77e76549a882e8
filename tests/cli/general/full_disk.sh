dtinfo cast 70000 bf16 >/dev/full
