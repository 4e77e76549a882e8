# all columns, and the lines of one policy
dtinfo vectors fp16:fp4_e2m1 | sed -n '1,14p'
dtinfo vectors fp32:fp8_e4m3fn --overflow saturate --round up | grep -E '^(#|input|0x43[ef]|0x7f)'
dtinfo vectors fp32:bf16 --nan canonical -r zero | tail -n 3
dtinfo vectors int64:int4 --overflow wrap | tail -n 4
