dtinfo __complete calc 1+1 bf16,fp16
dtinfo __complete calc 1+1 bf16 --order ''
dtinfo __complete calc 1+1 bf16 --accumulate=fp3
dtinfo __complete calc 1+1 bf16 --fail-on overflow,n
dtinfo __complete calc 1+1 bf16 --s
