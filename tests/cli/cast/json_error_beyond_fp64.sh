# Errors closer to 0 than any fp64: no number, whatever their sign
for x in 1e-400 -1e-400 1e-300; do
    dtinfo cast --json -- $x fp32 | jq -c '.results[0].error | {absolute, relative, ulp}'
done
