# what a cast of others loses counts in files as it does in values
# number, its code in fp32
for case in '1e-9 \137\160\211\060' '0.3 \232\231\231\076' '70000 \0\270\210\107' '1 \0\0\200\077' 'inf \0\0\200\177'; do
    printf "${case#* }" >in.bin
    for stack in torch cuda; do
        line=
        for event in inexact overflow underflow invalid; do
            dtinfo cast -q in.bin fp16 --from fp32 --like $stack -o /dev/null --fail-on $event || line="$line $event"
            dtinfo cast -q "${case%% *}" fp16 --like $stack --fail-on $event >/dev/null || line="$line($event)"
        done
        echo "${case%% *} $stack:$line"
    done
done
