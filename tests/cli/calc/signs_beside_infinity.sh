# needs mpfr
# The sign of a number that no fraction states decides the true value: its bounds alone are known.
for text in 'inf*exp(1)' 'inf*log(0.5)' 'inf/log(0.5)' 'inf/exp(1)' '0/exp(1)' 'max(-inf, log(0.5))' 'inf-exp(1)' 'exp(inf-sin(4))'
do
    printf '%s: ' "$text"
    dtinfo calc "$text" fp16 --json | grep -o '"true_value":{[^}]*}'
done
