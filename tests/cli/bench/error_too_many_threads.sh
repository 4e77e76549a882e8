dtinfo bench cast --threads 1000000
