# Bytes that begin as an ONNX model does. If the graph (field 7) has more of them than there are, they are none.
printf '\010\007\072\010abcdefgh' > eight
printf '\010\007\072\011abcdefgh' > nine
for file in eight nine; do dtinfo inspect $file 2>&1; echo "exit $?"; done
