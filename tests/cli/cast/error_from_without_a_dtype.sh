dtinfo cast in.bin bf16 --from
