# --sandbox: its words, and where it cannot be had
# native: valgrind preloads a library, and then there is no sandbox
exec 2>&1
printf 'abc' > in.bin
dtinfo inspect in.bin --from uint8 --sandbox never
dtinfo inspect in.bin --from uint8 --sandbox auto -q
dtinfo cast 1 bf16 --sandbox sometimes
dtinfo bench cast --sandbox always
dtinfo devices --sandbox always
dtinfo mem 7B bf16 --fit cuda --sandbox always
dtinfo cast 1 bf16 --device cuda --sandbox always
