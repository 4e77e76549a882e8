LC_ALL=C.UTF-8 dtinfo finfo fp16 bf16 | tail -n 6
LC_ALL=C.UTF-8 dtinfo finfo fp16 fp64 --color always --ascii | tail -n 6
dtinfo finfo fp4_e2m1 fp4_e2m1 fp8_e8m0 binary8p7uf e19m40 | tail -n 8
# no chart for a single dtype, nor with -q
dtinfo finfo fp16 | tail -n 1
dtinfo finfo fp16 bf16 -q | tail -n 1
