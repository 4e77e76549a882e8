# long lists: results whose fp64 approximation does not tell on which side of a tie of fp32 they are. exp(2^-24) and
# exp(-2^-25) are above the ties 1 + 2^-24 and 1 - 2^-25.
dtinfo calc 'min(exp(repeat(2^-24, 2000)))' fp32 --true-value never -q
dtinfo calc 'min(exp(repeat(-(2^-25), 2000)))' fp32 --true-value never -q
