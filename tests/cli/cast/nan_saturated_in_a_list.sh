dtinfo cast nan fp6_e3m2,fp4_e2m1 --overflow saturate
