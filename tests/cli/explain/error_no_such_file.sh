dtinfo explain a.safetensors b.safetensors
