dtinfo info bf16
dtinfo info int8,uint8
dtinfo info fp16 int4,bool,e5m10b3
dtinfo info int64 --style torch
dtinfo info fp16 int8 --jsonl | cut -c1-60
dtinfo info int8 --json | cut -c1-60
