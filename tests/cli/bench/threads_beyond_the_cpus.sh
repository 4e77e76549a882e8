dtinfo bench cast fp32:bf16 --size 64KiB --threads $(($(nproc) + 1)) --time 0.01 --jsonl 2>/dev/null | grep -o '"place": *"[a-z]*"'
