dtinfo cast 7,5 bf16
