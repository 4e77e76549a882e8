dtinfo bench copy --size 4KiB,8KiB --threads 1 --time 0.01 --jsonl 2>/dev/null | grep -o '"size_bytes": *[0-9]*'
