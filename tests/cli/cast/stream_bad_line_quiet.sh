printf '1\n7,5\n\n4\n' | dtinfo cast - fp16 -q
