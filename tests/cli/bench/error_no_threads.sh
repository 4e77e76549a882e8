dtinfo bench cast --threads 1,0
