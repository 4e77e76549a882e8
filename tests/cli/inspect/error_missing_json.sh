dtinfo inspect --json none.safetensors
