printf '1000 1' | dtinfo cast - fp32 --from text -o - | dtinfo cast - fp4_e2m1 --via fp8_e4m3fn --from fp32 --as text
echo "$?"
dtinfo cast 1000 fp4_e2m1 --via fp8_e4m3fn
echo "$?"
