dtinfo cast -q -- 1 bf16
dtinfo cast -q -- -q bf16
