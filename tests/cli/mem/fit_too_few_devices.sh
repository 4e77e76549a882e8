exec 2>&1
dtinfo mem 176e9 bf16 --fit 80GB
dtinfo mem 176e9 bf16 --fit '80 GB'
dtinfo mem 160e9 int8,bf16 --fit 2x80GB
dtinfo mem 7B bf16 --train adam --fit 80000000000
dtinfo mem 176e9 bf16 --json --fit 80GB | jq -c '.sizes[] | [.fits, .missing_bytes, .left_each_bytes, .devices]'
for fit in 8xcuda 0x80GB 99999999999999999999x80GB 4000000000x800TB x80GB 8x 8x8x80GB; do
    dtinfo mem 7B bf16 --fit $fit
    echo "exit $?"
done
exit 1
