dtinfo inspect x --shape 2,3
