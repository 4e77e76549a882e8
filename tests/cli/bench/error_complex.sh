dtinfo bench cast complex64:bf16
