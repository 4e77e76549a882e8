DTINFO_CPU=scalar dtinfo bench expsin --threads 1 --dtypes bf16 --size 10x10 --seed 3 --time 0.01 --cache warm
