dtinfo bits '0 10001111 0001001' bf16
dtinfo bits '0 1111 110' fp8_e4m3fn --json
dtinfo bits '1 11110 11' --field dtype,text,bits
test "$(dtinfo bits "$(dtinfo bits -q --field fields.sign,fields.exponent,fields.mantissa 0.1 bf16 | tr '\t' ' ')" bf16 -q)" = "$(dtinfo cast -q 0.1 bf16)" && echo same
# one digit too few
dtinfo bits '0 10001111 000100' bf16
# no dtype is as wide
dtinfo bits '0 0011'
dtinfo bits '0 2 1' bf16
