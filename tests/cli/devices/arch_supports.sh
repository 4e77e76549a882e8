dtinfo devices --supports bf16
dtinfo devices --supports fp8_e4m3fn
dtinfo devices --supports fp8_e4m3fn -v
dtinfo devices --supports tf32,torch.float8_e4m3fnuz
dtinfo devices --supports fp6_e3m2,fp4_e2m1 -q
dtinfo devices --supports int4 nvidia
dtinfo devices --supports int4 nvidia -q
dtinfo devices --supports e3m4
dtinfo devices --supports bf16 pascal
dtinfo devices --supports fp64 --columns native,architecture x86 arm
