echo 1 | dtinfo cast - bf16 --from text --as text --json
