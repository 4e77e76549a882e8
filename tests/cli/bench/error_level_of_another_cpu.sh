# whatever this CPU is, one of the two is not for it
DTINFO_CPU=neon dtinfo bench cast fp32:bf16 --size 1KiB --time 0.01 -q >/dev/null 2>&1
one=$?
DTINFO_CPU=avx2 dtinfo bench cast fp32:bf16 --size 1KiB --time 0.01 -q >/dev/null 2>&1
two=$?
[ $one -eq 5 ] || [ $two -eq 5 ]
