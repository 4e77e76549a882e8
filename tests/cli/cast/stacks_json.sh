dtinfo cast 500 fp8_e4m3fn --stacks --json
