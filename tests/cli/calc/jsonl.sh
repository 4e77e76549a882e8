# needs mpfr
dtinfo calc '256 + 1' fp16,bf16 --jsonl
