dtinfo 256+1 bf16
