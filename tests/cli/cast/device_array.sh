# the same bytes and the same report
export DTINFO_LIBCUDA="$PRETEND/libfake_cuda.so"
seq 1 5000 | dtinfo cast - fp32 --from text -o in.bin -q
dtinfo cast in.bin fp8_e4m3fn --from fp32 -o cpu.bin
for device in cuda cuda:1 auto; do
    dtinfo cast in.bin fp8_e4m3fn --from fp32 -o "$device.bin" --device "$device"
    cmp cpu.bin "$device.bin"
done
dtinfo cast - fp8_e4m3fn --from fp32 -o - --device cuda <in.bin | cmp - cpu.bin
dtinfo cast in.bin bf16 --from fp32 --as text --device cuda | tail -n 2
