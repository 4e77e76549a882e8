# fp32: 1, 0.1, -70000, 1e-8, inf, nan, 65504, 0x1p-24
printf '\000\000\200\077\315\314\314\075\000\270\210\307\167\314\053\062\000\000\200\177\000\000\300\177\000\340\177\107\000\000\200\063' >in.bin

dtinfo cast in.bin fp16 --from fp32 --as text
dtinfo cast in.bin fp8_e4m3fn --from fp32 --as text -o out.txt
cat out.txt
