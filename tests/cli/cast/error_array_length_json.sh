printf '1234567' >in.bin
dtinfo cast in.bin bf16 --from fp32 -o out.bin --json
