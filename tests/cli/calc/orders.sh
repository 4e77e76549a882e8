# needs mpfr
for order in sequential pairwise blocked:16 kahan
do
    printf '%s ' $order
    dtinfo calc 'sum(linspace(0, 1, 1000))' bf16 --order $order -q
done
dtinfo calc 'sum(linspace(0, 1, 1000))' fp16 --order blocked:16 --json | cut -d, -f 1-14
