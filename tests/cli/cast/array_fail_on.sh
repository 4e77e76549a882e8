# fp32: 1, 0.1, -70000, 1e-8, inf, nan, 65504, 0x1p-24
printf '\000\000\200\077\315\314\314\075\000\270\210\307\167\314\053\062\000\000\200\177\000\000\300\177\000\340\177\107\000\000\200\063' >in.bin

for event in inexact overflow underflow invalid; do
    dtinfo cast -q in.bin fp16 --from fp32 -o $event --fail-on $event || echo "$event: exit $?"
done
od -An -tx1 overflow
dtinfo cast -q in.bin int32 --from fp32 -o /dev/null --fail-on invalid || echo "exit $?"
dtinfo cast -q in.bin fp64 --from fp32 -o /dev/null --fail-on inexact,overflow,underflow,invalid
echo 1e-8 | dtinfo cast -q - fp16 --from text -o /dev/null --fail-on underflow || echo "exit $?"
