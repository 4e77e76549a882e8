dtinfo cast -q 70000 bf16
dtinfo cast -q 70000 fp16
dtinfo cast -q 3.141592653589793 int32
dtinfo cast -q 0.1 fp32
dtinfo cast -q 65504 fp16
dtinfo cast -q 1157425104234217473 bf16
dtinfo cast -q 18446744073709551615 uint64
