DTINFO_CPU=scalar dtinfo bench dot --threads 1 --dtypes fp32,int8 --size 1000 --time 0.01
