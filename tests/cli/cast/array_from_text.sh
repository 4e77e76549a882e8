printf '1, 0.1,-70000\r\n\t1e-8 inf\n1/3 0x1p-24,\n1e999 4.9e-324' >in.txt
dtinfo cast in.txt fp16 --from text -o out.bin
od -An -tx1 out.bin
dtinfo cast in.txt fp16 --from text --as text
# rounding to fp32 first would round twice
echo 1.00048828125000022204 | dtinfo cast - fp16 --from text --as text
echo 1.00048828125000022204 | dtinfo cast - fp16 --from text --as text --via fp32
# the low bits of a number of any length
echo 1e30 -1 3e2 | dtinfo cast - uint8 --from text --as text --overflow wrap
# the same number, written as an integer and as a float
echo 16842753 16842753.0 | dtinfo cast - bf16 --from text --as text --like torch
