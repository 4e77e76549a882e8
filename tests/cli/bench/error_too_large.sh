dtinfo bench cast fp32:bf16 --size 4194304TiB
