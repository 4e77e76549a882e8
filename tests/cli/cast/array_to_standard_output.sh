printf '\000\000\200\077' >in.bin
dtinfo cast in.bin bf16 --from fp32 -o /dev/stdout | od -An -tx1
dtinfo cast in.bin bf16 --from fp32 -o /dev/fd/1 --report 2>report | od -An -tx1
cat report
dtinfo cast in.bin bf16 --from fp32 -o /dev/stdout --force >out.bin
od -An -tx1 out.bin
dtinfo cast in.bin bf16 --from fp32 -o /dev/stdout --json 2>&1 | cat
mkfifo pipe
exec 3<>pipe
dtinfo cast in.bin bf16 --from fp32 -o pipe --force >&3
dd bs=100 count=1 <&3 2>/dev/null | od -An -tx1
dtinfo cast in.bin bf16 --from fp32 -o /dev/null --json >/dev/null
