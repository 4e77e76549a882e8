dtinfo inspect x --sort weight
