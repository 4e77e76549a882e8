echo 0.5 1 1.5 -2 6 | dtinfo cast - fp4_e2m1 --from text -o low.bin
for to in low high bytes; do
    dtinfo cast low.bin fp4_e2m1 --from fp4_e2m1 --from-packing low --packing $to -o $to.out
    od -An -tx1 $to.out
done
dtinfo cast high.out fp32 --from fp4_e2m1 --packing high --as text
echo 0.125 0.25 28 | dtinfo cast -q - fp6_e3m2 --from text -o six.bin
od -An -tx1 six.bin
dtinfo cast six.bin int8 --from fp6_e3m2 --as text -r nearest-even
