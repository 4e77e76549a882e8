dtinfo -q cast 70000 bf16
dtinfo --color=never cast -q 70000 bf16
