dtinfo iinfo bf16
