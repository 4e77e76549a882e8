dtinfo vectors fp6_e3m2:text | tail -n 5
dtinfo vectors int4:text bool:text | tail -n 7
dtinfo vectors fp32:nvfp4 | cut -c 1-90 | sed -n '1,12p'
dtinfo vectors fp32:q4_0 | cut -c 1-60 | sed -n '3,6p'
dtinfo vectors fp64:fp8_e5m2 --round stochastic --seed 7 | sed -n '1,12p'
for operation in add sub mul div sqrt fma; do
    dtinfo vectors "$operation:fp4_e2m1" | cksum
    dtinfo vectors "$operation:fp4_e2m1" | sed -n '2,3p; 20p'
done
