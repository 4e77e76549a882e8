# 5, -3, 7 as int4
printf '\325\007' >three.bin
dtinfo cast three.bin int8 --from int4 --as text
dtinfo cast three.bin int8 --from int4 --as text --count 3
dtinfo cast -q three.bin int8 --from int4 -o - --count 3 | od -An -tx1
try() { dtinfo cast "$@" 2>&1 || echo "exit $?"; }
try three.bin int8 --from int4 -o out.bin --count 2
try three.bin int8 --from int4 -o out.bin --count 5
try three.bin int8 --from int4 --packing high -o out.bin --count 3
try - int8 --from int4 -o out.bin --count 3 <<!
..
!
printf '\325\007' | try - int8 --from int4 -o out.bin --count 3
ls
