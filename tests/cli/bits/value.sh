dtinfo bits 0.1 bf16
