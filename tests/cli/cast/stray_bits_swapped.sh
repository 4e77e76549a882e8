printf '\055\001\002\003\000\377\377\377' > codes.bin # big-endian int24 in 4 bytes; the first byte is outside of the code
dtinfo cast codes.bin int24 --from int24 --endian big -o swapped.bin
od -An -tx1 swapped.bin
