dtinfo cast '' bf16
