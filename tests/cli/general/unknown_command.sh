dtinfo csat 70000 bf16
