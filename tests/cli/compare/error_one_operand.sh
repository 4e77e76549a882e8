dtinfo compare a.bin
