dtinfo cast seventy bf16
