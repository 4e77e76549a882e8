# needs /dev/full
dtinfo calc 1+1 fp16 > /dev/full
echo "exit $?"
dtinfo calc '[1, 2]' fp16 -o w.npy > /dev/full
echo "exit $?"
dtinfo calc @w.npy fp16 -q
dtinfo calc '[1, 2]' fp16 -o missing/w.npy
echo "exit $?"
