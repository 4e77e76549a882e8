# fp32: 1, 0.1, -70000, 1e-8, inf, nan, 65504, 0x1p-24
printf '\000\000\200\077\315\314\314\075\000\270\210\307\167\314\053\062\000\000\200\177\000\000\300\177\000\340\177\107\000\000\200\063' >in.bin

dtinfo cast in.bin fp16 --from fp32 -o a.bin -r up --overflow saturate --nan canonical
od -An -tx1 a.bin
dtinfo cast in.bin fp8_e4m3fn --from fp32 -o b.bin --via fp16,bf16
od -An -tx1 b.bin
dtinfo cast in.bin fp8_e4m3fn --from fp32 -o c.bin --like torch
od -An -tx1 c.bin
dtinfo cast in.bin bf16 --from fp32 -o d.bin -r stochastic --seed 7
dtinfo cast in.bin bf16 --from fp32 -o e.bin -r stochastic --seed 7 --threads 2 -q
cmp d.bin e.bin
