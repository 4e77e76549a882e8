dtinfo compare none.safetensors none.safetensors
