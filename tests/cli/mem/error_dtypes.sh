exec 2>&1
for dtype in bf61 mxpf4 fp8 'bf16,,' xyzzy-xyzzy; do
    dtinfo mem 7B "$dtype"
    echo "exit $?"
done
dtinfo mem bf16
dtinfo mem 7B fp32 --dtype bf16
dtinfo mem nothing
dtinfo mem nothing.safetensors
dtinfo mem 7B nothing.safetensors
dtinfo mem
