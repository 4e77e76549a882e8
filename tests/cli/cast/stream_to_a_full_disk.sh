# the cause is told, whether a write fails or the last flush, from a pipe and from a file
seq 1 1000 | dtinfo cast - bf16 >/dev/full
echo "exit $?"
seq 1 100000 >lines
dtinfo cast - bf16 <lines >/dev/full
echo "exit $?"
