dtinfo list --names | while read -r name; do
    dtinfo finfo "$name" >/dev/null 2>&1 || dtinfo iinfo "$name" >/dev/null || echo "$name"
done
