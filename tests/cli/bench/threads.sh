dtinfo bench cast bf16:fp32 --size 16KiB --threads 1,2 --time 0.01 -q
