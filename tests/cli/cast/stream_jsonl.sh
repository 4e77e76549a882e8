seq 65518 65522 | dtinfo cast - fp16 --jsonl
