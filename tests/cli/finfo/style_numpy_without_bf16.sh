dtinfo finfo --style numpy bf16
