dtinfo cast nan fp4_e2m1 --stacks
