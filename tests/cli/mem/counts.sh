dtinfo mem 7B
dtinfo mem 176e9 bf16
for count in 1 1.5B 350m 2^20 1_000_000 7000000000; do
    dtinfo mem -q "$count" fp32
done
