dtinfo cast 1 bf16 --digits x
