# expressions that are none: every line says what is wrong, where, and what to write
. "$TESTS/mistakes.sh"
ESC=$(printf '\033') FF=$(printf '\377') BLANK=$(printf '\302\240') RTL=$(printf '\342\200\256')
export ESC FF BLANK RTL
try <<'EOF'
calc '' fp16
calc '  ' fp16
calc '(' fp16
calc '()' fp16
calc '(1' fp16
calc '1)' fp16
calc '1]' fp16
calc '(1]' fp16
calc '[1, 2' fp16
calc '[1, 2)' fp16
calc '[1 2]' fp16
calc '[]' fp16
calc '[1,]' fp16
calc 'exp([1, 2]' fp16
calc '1 +' fp16
calc '* 2' fp16
calc '1 + * 2' fp16
calc '1, 2' fp16
calc '1 2' fp16
calc '2(3)' fp16
calc '(2)(3)' fp16
calc '2x' fp16
calc 'x = 2; 2 x' fp16
calc 'x = 2; x(3)' fp16
calc 'x' fp16
calc 'value = 2; vaule*2' fp16
calc 'x = 1' fp16
calc 'x = 1;' fp16
calc '1 = 1' fp16
calc 'x = y = 1; x' fp16
calc 'exp = 1; exp' fp16
calc 'nan = 1; nan' fp16
calc '1e4.0' fp16
calc '1.2.3' fp16
calc '1__0' fp16
calc '10K' fp16
calc '0xfg' fp16
calc '.' fp16
calc '2^0.5' fp16
calc '2^-0.5' fp16
calc 'x = 2; 2^x' fp16
calc '2^3^4' fp16
calc '2^99999999999' fp16
calc 'exp' fp16
calc 'exp[1]' fp16
calc 'sofmax([1, 2])' fp16
calc 'gamma(1)' fp16
calc 'sum()' fp16
calc 'sum(1, 2)' fp16
calc 'max(1, 2, 3)' fp16
calc 'fma(1, 2)' fp16
calc 'linspace(0, 1)' fp16
calc 'arange(10)' fp16
calc 'repeat(1)' fp16
calc '3!' fp16
calc 'bf16 + 1' fp16
calc "$(printf '(%.0s' $(seq 300))1" fp16
calc "$(printf '1+%.0s' $(seq 5000))1" fp16
calc "$(printf '[%.0s' $(seq 9))1$(printf ']%.0s' $(seq 9))" fp16
calc "1 ${ESC}[31m+ 2" fp16
calc "${ESC}]0;title" fp16
calc "x${ESC}[2J" fp16
calc "x\\033[2J" fp16
calc "1 ${FF} 2" fp16
calc "caf${FF}(1)" fp16
calc "1 ${BLANK}+ 2" fp16
calc "1 ${RTL}+ 2" fp16
EOF
