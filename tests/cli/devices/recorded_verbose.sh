for name in sapphire_rapids_two_sockets alder_lake_hybrid neoverse_v2 zen5_kvm; do
    python3 "$TESTS/../../tools/machine.py" unpack "$TESTS/../data/machines/$name.txt" "$name"
    echo "== $name"
    dtinfo devices --sysroot "$name" -v
done
