dtinfo help json
dtinfo help exit-codes
dtinfo help dtypes | head -3
dtinfo help dtypes --json | cut -c1-60
for word in EXIT exit-status errors jsonl schemas dtype; do
    dtinfo help $word | head -1
done
dtinfo help exit-codes list | tail -3
