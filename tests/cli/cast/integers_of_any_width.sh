exec 2>&1
dtinfo cast 300 int3,uint7,int12,int24,int48,uint63
dtinfo cast -q --overflow wrap 300 uint7
dtinfo cast -q --overflow wrap 300 int9
dtinfo cast -q --overflow saturate -- -300 int9
dtinfo cast -q -r up 2.5 int3
dtinfo cast -q 9007199254740993 uint53
dtinfo cast -q 9007199254740991 uint53
dtinfo bits 0x800 int12
dtinfo bits 0x1000 int12 || echo "exit $?"
echo 1 -2 3 7 -8 100 -5000 2 | dtinfo cast - int12 --from text -o twelve.bin
od -An -tx1 twelve.bin
dtinfo cast twelve.bin int3 --from int12 --overflow wrap -o three.bin
od -An -tx1 three.bin
dtinfo cast three.bin int8 --from int3 --as text
dtinfo cast three.bin int3 --from int3 --from-packing low --packing high -o high.bin -q && od -An -tx1 high.bin
printf '\377\17\1\360\0\210\5\0' > stray.bin
dtinfo cast stray.bin int12 --from int12 -o whole.bin
od -An -tx1 whole.bin
dtinfo cast stray.bin int32 --from int12 --as text -q
dtinfo inspect stray.bin --from int12 --stats --columns name,dtype,elements,min,max,absmax
printf '\1\0\0\0\0\0\040\0\377\377\377\377\377\377\377\17\0\0\0\0\0\0\0\10' > sixty.bin
dtinfo inspect sixty.bin --from int60 --stats --columns name,dtype,elements,min,max,absmax
dtinfo inspect sixty.bin --from uint63 --stats --columns name,dtype,elements,min,max,absmax
dtinfo cast sixty.bin uint53 --from uint60 --as text -q
dtinfo compare sixty.bin sixty.bin --from int60
