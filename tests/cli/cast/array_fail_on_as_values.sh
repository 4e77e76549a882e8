# a file of codes, its text and the value alone give the same answer
# number, code in fp32
cases='0.3 \0232\0231\0231\0076
inf \0000\0000\0200\0177
-inf \0000\0000\0200\0377
nan \0000\0000\0300\0177
-0 \0000\0000\0000\0200
0x1p-24 \0000\0000\0200\0063
0x1.8p-25 \0000\0000\0100\0063
0x1p-149 \0001\0000\0000\0000
-300 \0000\0000\0226\0303'
ask() { "$@" 2>/dev/null; case $? in 0) answer=$answer- ;; 1) answer=$answer+ ;; *) answer=${answer}x ;; esac; }
printf '%s\n' "$cases" | while read -r number code; do
    printf %b "$code" >in.bin
    echo "$number" >in.txt
    for dtype in fp16 bf16 fp8_e4m3fn fp8_e8m0 fp4_e2m1 int8 uint4 bool; do
        line=
        for event in inexact overflow underflow invalid; do
            answer=
            ask dtinfo cast -q in.bin $dtype --from fp32 -o /dev/null --fail-on $event
            ask dtinfo cast -q in.txt $dtype --from text -o /dev/null --fail-on $event
            ask dtinfo cast -q --fail-on $event -- "$number" $dtype >/dev/null
            case $answer in +++) line="$line $event" ;; ---) ;; xxx) line="$line refused" ;; *) line="$line $event:$answer" ;; esac
        done
        echo "$number $dtype:$line"
    done
done
dtinfo cast -q in.bin fp32 --from fp32 -o /dev/null --fail-on underflow,inexact,overflow,invalid || echo "exit $?"
