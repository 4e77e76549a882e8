dtinfo cast 1/0 bf16
