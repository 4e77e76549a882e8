# what became infinity, NaN or zero stands out; what was given as such does not
dtinfo cast 1e9 fp16,fp8_e4m3fn,bf16 --color always
dtinfo cast -1e-9 fp16,int8,bf16 --color always
dtinfo cast inf fp16,fp8_e4m3fn --color always
dtinfo cast 1e9 fp16 --color always | head -n 1
dtinfo cast 1e-9 fp16 --color always | head -n 1
dtinfo cast 0 fp16 --color always | head -n 1
dtinfo cast 500 fp8_e4m3fn --stacks --color always | head -n 4
CLICOLOR_FORCE=1 NO_COLOR=1 dtinfo cast 1e9 fp16 | head -n 3
