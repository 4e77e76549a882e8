echo 1 nan 3 4 | dtinfo cast - fp16 --from text -o a.bin -q
dtinfo check a.bin --from fp16 --valid --no-nan --shape 4; echo "exit $?"
dtinfo check a.bin --from fp32; echo "exit $?"
dtinfo check a.bin --from fp64 --shape 1; echo "exit $?"
dtinfo check a.bin --from complex64 --no-nan; echo "exit $?"
dtinfo check a.bin 2>&1; echo "exit $?"
