dtinfo finfo fp6_e3m2 fp6_e2m3 fp4_e2m1
