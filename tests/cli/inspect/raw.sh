printf '0123456789abcdef' > in.bin
dtinfo inspect in.bin --from int16 --shape 2x4 --endian big --stats
