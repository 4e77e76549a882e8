for mode in nearest-even nearest-away zero up down odd; do
    dtinfo cast -q 1.00390625 1.01171875 -1.00390625 1.001 bf16 --round $mode
done
