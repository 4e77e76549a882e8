# needs mpfr
for event in overflow nan divide-by-zero to-zero subnormal underflow absorbed cancellation inexact invalid
do
    printf '%s:' $event
    for expression in '10k*10k' 'inf - inf' '1/0' '1e-5 * 1e-5' '3e-5 / 3' '256 + 0.1' '1.001 - 1' '1 + 1'
    do
        dtinfo calc "$expression" fp16 --fail-on $event -q > out || printf " '%s'" "$expression"
    done
    echo
done
dtinfo calc inf int8 --fail-on invalid -q
echo "exit $?"
