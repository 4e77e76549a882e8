# the hint is marked, its number apart
dtinfo cast 1e9 bf16 --via fp16 --color always
