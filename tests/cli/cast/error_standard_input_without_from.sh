printf abcd | dtinfo cast --input - bf16 -o out.bin
