# A block has a length of digits alone, from 1 on; only blocks have one.
for order in blocked:0 blocked:8x blocked: pairwise:3
do
    dtinfo calc 'sum(1, 2)' bf16 --order $order || echo $?
done
