dtinfo cast 1 bf16 --round nearly
