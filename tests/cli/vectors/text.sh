# a number, and texts that fp64 cannot tell from it
dtinfo vectors text:fp8_e5m2 | grep -E '^(61440|61[34][0-9]*e)'
dtinfo vectors text:fp4_e2m1 | tail -n 22
