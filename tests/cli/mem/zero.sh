dtinfo mem 0 fp32
dtinfo mem 0x3 fp32,mxfp4
dtinfo mem 7,0,2 bf16 -q
dtinfo mem 0 --train adam -q
dtinfo mem 0 bf16 --json
