# fp16 bf16 fp8_e5m2 fp8_e4m3fn tf32, one line each
for value in 70000 0.1 0x1.5555555555555p-2 3.14159265358979; do
    dtinfo cast -q $value fp16,bf16,fp8_e5m2,fp8_e4m3fn,tf32 | paste -s -d ' '
done
dtinfo cast -q 0.1 fp8_e3m4,fp8_e4m3fnuz,fp6_e2m3,fp6_e3m2,fp4_e2m1 | paste -s -d ' '
dtinfo cast -q 0.25 0.75 1.25 1.75 2.5 3.5 5 7 fp4_e2m1 | paste -s -d ' '
