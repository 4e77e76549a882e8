# needs mpfr
# What is chosen from a list is subtracted without cancellation, what is computed from it is not; fma() absorbs either part.
for text in 'a = [1, 1.0009765625]; a - max(a)' 'a = [1, 1.0009765625]; min(a) - a' 'a = [1, 1.0009765625]; a - sqrt(a)' 'a = [1, 1.0009765625]; sqrt(a) - a' \
    'fma(1, 0.000244140625, 1)' 'fma(1, 1, 0.000244140625)' 'fma(1, 0.5, 1)' '0.000244140625 * 1'
do
    printf '%s: ' "$text"
    dtinfo calc "$text" fp16 --json | grep -o '"absorbed":[0-9]*,"cancellation":[0-9]*'
done
