dtinfo bench fp32:bf16
