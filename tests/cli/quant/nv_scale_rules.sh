# 15 lies between 4 and 6 of a block with 20; where 20 becomes 4 it is 3
for rule in six four-six; do
    dtinfo quant 5 -10 15 20 nvfp4 --nv-scale $rule
done
# each block chooses 4 or 6
dtinfo quant $(seq 1 20) nvfp4 --nv-scale four-six --tensor-scale none | grep scale
dtinfo quant 5 -10 15 20 nvfp4 --nv-scale four-six --division exact -q
