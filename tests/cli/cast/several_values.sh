dtinfo cast 1 2.5 70000 fp16
dtinfo cast 1 70000 fp16,bf16
dtinfo cast 1 70000 fp16,bf16 --jsonl
