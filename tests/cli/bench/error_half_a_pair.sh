dtinfo bench cast :bf16
