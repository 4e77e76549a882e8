# what a cast of others loses counts in files as it does in values
# number, its code in fp32
for case in '1e-9 \0137\0160\0211\0060' '0.3 \0232\0231\0231\0076' '70000 \0000\0270\0210\0107' '1 \0000\0000\0200\0077' 'inf \0000\0000\0200\0177'; do
    printf %b "${case#* }" >in.bin
    for stack in torch cuda; do
        line=
        for event in inexact overflow underflow invalid; do
            dtinfo cast -q in.bin fp16 --from fp32 --like $stack -o /dev/null --fail-on $event || line="$line $event"
            dtinfo cast -q "${case%% *}" fp16 --like $stack --fail-on $event >/dev/null || line="$line($event)"
        done
        echo "${case%% *} $stack:$line"
    done
done
