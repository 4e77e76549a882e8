dtinfo cast 1 bf16 --ronud up
