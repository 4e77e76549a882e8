: >in.bin
dtinfo cast in.bin bf16 --from fp32 -o out.bin
dtinfo cast in.bin bf16 --from text -o text.bin
dtinfo cast in.bin bf16 --from fp32 --as text
dtinfo cast - bf16 --from fp32 -o - <in.bin
wc -c <out.bin
wc -c <text.bin
