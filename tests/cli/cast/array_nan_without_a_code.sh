printf '\000\000\200\077\000\000\300\177' >in.bin
dtinfo cast in.bin fp4_e2m1 --from fp32 -o out.bin || echo "exit $?"
dtinfo cast -q in.bin fp4_e2m1 --from fp32 -o out.bin || echo "exit $?"
dtinfo cast in.bin fp32 --from fp32 --via fp6_e3m2 -o out.bin || echo "exit $?"
echo 1 nan | dtinfo cast - fp4_e2m1 --from text -o out.bin || echo "exit $?"
ls
dtinfo cast in.bin fp4_e2m1 --from fp32 -o out.bin --overflow saturate
od -An -tx1 out.bin
dtinfo cast -q in.bin int8 --from fp32 --as text
echo nan nan -1 2 | dtinfo cast - fp8_e8m0 --from text -o /dev/null
