dtinfo cast 70000 bf16 --fail-on overflow,underflow,invalid -q
