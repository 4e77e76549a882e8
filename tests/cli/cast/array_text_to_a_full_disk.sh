head -c 4000000 /dev/zero >zeros
dtinfo cast zeros fp32 --from fp32 --as text -q >/dev/full
