printf '65504\nsixty\n' | dtinfo cast - fp16 --json
