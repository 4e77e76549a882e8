dtinfo info -q fp16 int8 bf16 dtype,max
dtinfo info --field dtype,bits uint4 fp4_e2m1
dtinfo info -q int8
dtinfo info -q int8 maxx
