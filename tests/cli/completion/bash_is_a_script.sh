dtinfo completion bash | head -n 1
