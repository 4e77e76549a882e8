dtinfo inspect none.safetensors
