printf '0123456789abcdef' > in.bin
dtinfo inspect in.bin --from fp4_e2m1 --packing high --stats
