dtinfo bench cast fp32:bf16 --size 4KiB --time 0.01 --jsonl | wc -l
