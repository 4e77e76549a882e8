seq 1 7 | dtinfo quant - int4 --block 3
dtinfo quant 1 2 -3 4 uint8 --per block --block 2 --nibble low
dtinfo quant 1 2 -3 4 uint4 --per block --block 2 --nibble high
