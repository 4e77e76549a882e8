# needs mpfr
# products of up to 64 bits need no library, longer ones do: one rounding either way
for power in 2 6 7 8 9 -2 -7 -9
do
    for number in 1.9990234375 1.0009765625 1.2998046875 3.140625
    do
        dtinfo calc "$number^$power" fp16 -q
    done
done
