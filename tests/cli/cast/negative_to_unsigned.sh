# P3109's unsigned formats have no code for a negative number: NaN, unless it is clamped to 0
for number in -1 -inf -1e-30 -0
do
    for policy in native saturate saturate-finite
    do
        printf '%s %s: ' "$number" $policy
        dtinfo cast $number binary8p3ue,binary8p3uf --overflow $policy -q | tr '\n' ' '
        echo
    done
done
