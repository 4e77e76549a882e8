dtinfo finfo bf16
