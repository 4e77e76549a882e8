dtinfo cast 1 bf16 --json=yes
