try() { dtinfo cast "$@" || echo "exit $?"; }
printf '\000\000\200\077' >in.bin
exec 2>&1
try in.bin
try in.bin bf16
try in.bin bf16 -o out.bin
try in.bin --from fp32
try --from fp32
try in.bin bf16 --from fp32
try in.bin bf16,fp16 --from fp32 -o out.bin
try in.bin all --from fp32 -o out.bin
try in.bin bf16 fp16 --from fp32 -o out.bin
try --input in.bin --from fp32
try --input in.bin in.bin bf16 --from fp32 -o out.bin
try in.bin complex64 --from fp32 -o out.bin
try in.bin fp32 --from complex128 -o out.bin
try in.bin bf61 --from fp32 -o out.bin
try in.bin bf16 --from pf32 -o out.bin
try in.bin bf16 --from fp32 -o out.bin --threads 0
try in.bin bf16 --from fp32 -o out.bin --threads 1000000
try in.bin bf16 --from fp32 -o out.bin --packing middle
try in.bin bf16 --from text -o out.bin --endian big
try in.bin bf16 --from fp32 -o out.bin --stacks
try in.bin bf16 --from fp32 -o out.bin --overflow wrap
try in.bin bf16 --from fp32 -o out.bin --like torch --nan quiet
try in.bin bf16 --from fp32 -o out.bin -q --report
try 70000 bf16 -o out.bin
try 70000 bf16 --threads 2
ls
exec 2>&1
try in.bin bf16 --from fp32 -o out.bin --packing high
try in.bin bf16 --from fp32 -o out.bin --from-packing high
try - bf16 --from text -o out.bin --from-packing high
try - bf16 --from text -o out.bin --count 3
try in.bin bf16 --from fp32 -o out.bin --threads some
try in.bin bf16 --from fp32 -o /dev/null -q --threads all
try ./70000 bf16
try --input 70000 bf16
try 70000 bf16 --count 2
