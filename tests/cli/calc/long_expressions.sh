# needs mpfr
dtinfo calc "$(seq -s + 1 200)" fp16
dtinfo calc "$(printf '1 + \n\t1')" fp16
