dtinfo finfo bf16 --json
