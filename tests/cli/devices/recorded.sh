# each recorded machine; the driver is never asked
for name in zen5_kvm qemu_haswell qemu_epyc_milan sapphire_rapids_two_sockets alder_lake_hybrid \
    avx10_by_the_manual avx512_not_kept neoverse_n1 neoverse_v2; do
    python3 "$TESTS/../../tools/machine.py" unpack "$TESTS/../data/machines/$name.txt" "$name"
    echo "== $name"
    DTINFO_CPU=avx2 dtinfo devices --sysroot "$name"
done
