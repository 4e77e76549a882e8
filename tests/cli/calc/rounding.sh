# needs mpfr
for mode in nearest-even nearest-away zero up down odd stochastic
do
    echo "$mode"
    dtinfo calc '[2049 + 0, 1/3]' fp16 -q --round $mode
    dtinfo calc '[7, -7]/2' int8 -q --round $mode
done
echo none
dtinfo calc '[7, -7]/2' int8 -q
dtinfo calc '1/3' fp16 -r stochastic --seed 3 -q
