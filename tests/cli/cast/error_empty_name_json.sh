dtinfo cast 1 bf16,,fp16 --json
