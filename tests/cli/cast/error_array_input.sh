try() { dtinfo cast "$@" || echo "exit $?"; }
exec 2>&1
printf '\000\000\200\077\000\000\200' >seven.bin
printf '1 2\n3 4x 5\n' >bad.txt
printf '1,,2\n' >commas.txt
printf '1+2j\n' >complex.txt
mkdir folder
try seven.bin bf16 --from fp32 -o out.bin
try seven.bin bf16 --from fp32 --as text
head -c 7 seven.bin | try - bf16 --from fp32 -o out.bin
printf '\000\200' | try - fp4_e2m1 --from e2m2 -o out.bin
try bad.txt bf16 --from text -o out.bin
try commas.txt bf16 --from text -o out.bin
try complex.txt bf16 --from text -o out.bin
try missing.bin bf16 --from fp32 -o out.bin
try folder bf16 --from fp32 -o out.bin
try seven.bin bf16 --from fp32 -o folder
try seven.bin bf16 --from uint8 -o missing/out.bin
try seven.bin bf16 --from uint8 -o ''
ls
