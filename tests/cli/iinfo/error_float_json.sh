dtinfo iinfo bf16 --json
