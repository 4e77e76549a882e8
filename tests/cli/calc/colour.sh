# needs mpfr
dtinfo calc '10k*10k' fp16 --color always
dtinfo calc '[1, 1e-5, 300]*[1, 1e-5, 300]' fp16 --color always
dtinfo calc '1e-5 * 1e-5' fp16,bf16 --color always
