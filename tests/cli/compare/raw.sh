echo 1 2 3 4 | dtinfo cast - fp16 --from text -o a.bin -q
echo 1 2 3.5 4 | dtinfo cast - fp16 --from text -o b.bin -q
dtinfo compare a.bin b.bin --from fp16 --shape 2,2; echo "exit $?"
dtinfo compare a.bin b.bin --from fp16 --endian big; echo "exit $?"
dtinfo compare a.bin b.bin --from complex64 --shape 1; echo "exit $?"
dtinfo compare a.bin b.bin --from fp4_e2m1 --packing high; echo "exit $?"
dtinfo compare a.bin b.bin --from fp16 --shape 3; echo "exit $?"
