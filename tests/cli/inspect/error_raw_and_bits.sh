dtinfo inspect model.safetensors --raw --bits 4
