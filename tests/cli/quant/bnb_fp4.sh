# Its own table: every code, one limit (0.583333) from both sides, and what the name fp4 alone says.
dtinfo quant 1 0 0.0052 -0.17 0.25 -0.33 0.5 0.67 0.583333 0.58333307 bnb_fp4
dtinfo quant -q -1 0.1 0.3 fp4_bnb
dtinfo quant 1 fp4; echo "exit $?"
dtinfo quant 1e-45 -1e-45 3e38 bnb_fp4 --json | jq -c '.results[].groups[].elements[] | .code'
