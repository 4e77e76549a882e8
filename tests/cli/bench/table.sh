dtinfo bench cast fp32:bf16 --threads 1 --size 4KiB --time 0.01
