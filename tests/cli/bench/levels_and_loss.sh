# needs 64-bit
DTINFO_CPU=scalar dtinfo bench cast fp32:int8 --threads 1 --size 1KiB --level all --loss --data nan1 --cache cold --seed 7 --time 0.01 -v
