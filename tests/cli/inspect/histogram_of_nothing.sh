printf '' > none.bin
dtinfo inspect --histogram none.bin --from fp32
