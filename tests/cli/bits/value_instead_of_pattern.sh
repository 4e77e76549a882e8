dtinfo bits --value 0x4789 bf16
