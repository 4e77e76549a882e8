exec 2>&1
for size in 24 80.5 '24 B' 24GB 2000000; do
    echo "$size:"
    dtinfo mem 1 bf16 --fit "$size" | tail -1
done
