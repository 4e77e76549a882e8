for name in sapphire_rapids_two_sockets alder_lake_hybrid neoverse_n1 qemu_haswell zen5_kvm; do
    python3 "$TESTS/../../tools/machine.py" unpack "$TESTS/../data/machines/$name.txt" "$name"
    dtinfo devices --sysroot "$name" --json
done
