dtinfo list bf16
