# Bytes that begin as an ONNX model does. If the graph (field 7) has more of them than there are, they are none.
for length in 010 011; do
    printf '\010\007\072\'$length'abcdefgh' > file
    dtinfo inspect file 2>&1; echo "exit $?"
done
