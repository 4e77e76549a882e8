printf '1\n2.5\n0x1p-3\n1/3\n-inf\nnan' | dtinfo cast - bf16 -q
