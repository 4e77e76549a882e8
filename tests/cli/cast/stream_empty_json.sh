dtinfo cast - bf16 --json </dev/null
