dtinfo inspect x --threads 2
