printf '1\n1e9\n' | dtinfo cast - fp16,int8 --json
