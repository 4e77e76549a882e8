printf '\077\200\000\000\300\000\000\000' >big.bin
dtinfo cast big.bin fp32 --from fp32 --endian big -o little.bin
od -An -tx1 little.bin
dtinfo cast big.bin uint16 --from fp32 --endian big --as text --overflow wrap
