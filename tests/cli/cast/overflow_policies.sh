for policy in native saturate saturate-finite; do
    for value in 500 -inf nan; do
        dtinfo cast -q $value fp8_e4m3fn,fp8_e5m2,fp8_e4m3fnuz --overflow $policy
    done
done
for value in 300 -129 1e30 -1; do
    dtinfo cast -q $value int8,uint8 --overflow wrap
done
