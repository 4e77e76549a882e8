name=$(printf 'a\377b')
printf '\000\000\200\077' >"$name"
dtinfo cast "$name" bf16 --from fp32 -o out.bin --json | grep -o '"path[^,]*'
dtinfo cast 1 bf16 --round stochastic --seed 18446744073709551615 --json | grep -o '"seed[^,}]*'
