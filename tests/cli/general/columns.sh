# columns by their heads, in the order that was asked for
exec 2>&1
cp "$TESTS/../../docs/sample/model.safetensors" .
dtinfo inspect --stats model.safetensors --columns absmax,NAME
dtinfo list --columns 'dtype,bits' | head -3
dtinfo finfo --columns 'dtype,smallest-normal,eps' --width 30 | head -3
dtinfo mem 7B bf16,int8 --columns dtype,binary
dtinfo list --columns dtype,bytes | tail -4
dtinfo inspect --stats model.safetensors --columns name,kurtosis
echo "exit $?"
dtinfo cast 1 bf16 --columns dtype
echo "exit $?"
dtinfo list --json --columns dtype
echo "exit $?"
