printf 'nan\n1\n' | dtinfo cast -q - fp6_e3m2,fp4_e2m1
