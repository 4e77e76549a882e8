dtinfo cast 256+1 bf16
dtinfo cast 1 "2*2" bf16
dtinfo cast "sqrt(2)" bf16
dtinfo cast 1 + 1 bf16
