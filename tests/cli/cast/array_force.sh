echo old >out.bin
chmod 640 out.bin
echo 1 2 | dtinfo cast - bf16 --from text -o out.bin
cat out.bin
echo 1 2 | dtinfo cast - bf16 --from text -o out.bin --force
od -An -tx1 out.bin
stat -c %a out.bin
