DTINFO_CPU=scalar dtinfo bench quant --threads 1 --dtypes int8,nvfp4 --size 8x64 --seed 3 --time 0.01
