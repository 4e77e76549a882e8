# the largest of a block under all four rules
for rule in floor ceil rceil even; do
    echo "$rule"
    for amax in 250 449 150; do
        dtinfo quant $amax mxfp8_e4m3 --mx-scale $rule | grep -e scale -e "^  $amax"
    done
    dtinfo quant 7 mxfp4 --mx-scale $rule | grep -e scale -e '^  7'
done
