dtinfo cast 300 int8 --stacks
dtinfo cast -1.5 uint8 --stacks
dtinfo cast 0.5 fp8_e8m0 --stacks
