dtinfo cast inf fp8_e4m3fn --stacks
dtinfo cast -inf fp8_e5m2 --stacks
dtinfo cast nan fp8_e5m2 --stacks
