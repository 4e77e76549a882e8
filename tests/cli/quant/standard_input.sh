printf '1, 2\n3\t-4.5 1e-3\n' | dtinfo quant - int8 -q
printf '1 2\n3 x\n' | dtinfo quant - int8
printf '' | dtinfo quant - int8
