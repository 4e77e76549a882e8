dtinfo cast inf fp32
dtinfo cast nan fp32
dtinfo cast inf fp4_e2m1
dtinfo cast nan int8
