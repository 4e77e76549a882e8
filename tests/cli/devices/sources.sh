# where each cell of the matrix is from
for name in avx10_by_the_manual neoverse_v2; do
    python3 "$TESTS/../../tools/machine.py" unpack "$TESTS/../data/machines/$name.txt" "$name"
    dtinfo devices --sysroot "$name" --json | python3 -c '
import json, sys
for cell in json.load(sys.stdin)["matrix"]:
    print(cell["device"], cell["dtype"], cell["capability"], cell["source"])'
done
