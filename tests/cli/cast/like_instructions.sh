# An instruction is not a library: subnormal operands, clamping and NaN differ.
dtinfo cast 1e-38 bf16 --like avx512-bf16
dtinfo cast inf fp8_e5m2 --like avx10.2 -q
dtinfo cast inf fp8_e5m2 --like avx10.2-sat -q
dtinfo cast 0x1.1001p0 fp8_e4m3fn --like avx10.2
dtinfo cast 0x1.1001p0 fp8_e4m3fn --like arm-fp8 -q
dtinfo cast -nan bf16 --like riscv
dtinfo cast nan fp4_e2m1 --like ptx-satfinite
dtinfo cast 248 fp8_e4m3fnuz --like cdna3
dtinfo cast 1 bf16 --like f16c
printf '1 300 70000 nan' | dtinfo cast - fp8_e5m2 --from text --as text --like arm-fp8-sat
