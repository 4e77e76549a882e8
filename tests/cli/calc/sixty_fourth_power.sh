# the highest power that needs no library: of a power of two, which has one bit
dtinfo calc '2^64' fp8_e8m0 -q
dtinfo calc '0.5^64' fp8_e8m0 -q
dtinfo calc '2^-64' fp8_e8m0 -q
