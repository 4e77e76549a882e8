# fp32: 1, 0.1, -70000, 1e-8, inf, nan, 65504, 0x1p-24
printf '\000\000\200\077\315\314\314\075\000\270\210\307\167\314\053\062\000\000\200\177\000\000\300\177\000\340\177\107\000\000\200\063' >in.bin

dtinfo cast in.bin fp16 --from fp32 -o out.bin && od -An -tx1 out.bin
dtinfo cast in.bin bf16 --from fp32 -o out.bin --force && od -An -tx1 out.bin
dtinfo cast in.bin int8 --from fp32 -o out8.bin -v --threads 3 | grep -v level && od -An -tx1 out8.bin
ls
