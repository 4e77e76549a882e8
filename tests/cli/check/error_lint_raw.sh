printf 'abcd' > x.bin
dtinfo check x.bin --quantized --from fp32
echo "exit $?"
dtinfo check x.bin --quantized --raw
