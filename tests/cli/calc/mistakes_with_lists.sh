# shapes that do not match, lengths that are none, and lists that are too long
. "$TESTS/mistakes.sh"
try <<'EOF'
calc '[1, 2] + [1, 2, 3]' fp16
calc '[[1, 2], [3]]' fp16
calc '[1, [2]]' fp16
calc 'dot([1, 2], [1, 2, 3])' fp16
calc 'matmul([[1, 2]], [[3, 4]])' fp16
calc 'matmul(2, [[3, 4]])' fp16
calc 'fma([1, 2], [1, 2, 3], 1)' fp16
calc 'repeat(1, 0)' fp16
calc 'repeat(1, -1)' fp16
calc 'repeat(1, 1.5)' fp16
calc 'repeat(1, 1e9)' fp16
calc 'repeat(1, 1e999999999)' fp16
calc 'repeat(1, 10000000000000000000000)' fp16
calc 'repeat(1, inf)' fp16
calc 'repeat(1, 1 + 1)' fp16
calc 'randn(0)' fp16
calc 'randn(100000, 100000)' fp16
calc 'randn(4294967296, 4294967296)' fp16
calc 'randn(1, 1, 1, 1, 1, 1, 1, 1, 1)' fp16
calc 'rand(x)' fp16
calc 'linspace(0, 1, 0)' fp16
calc 'linspace(0, inf, 4)' fp16
calc 'linspace(0, nan, 4)' fp16
calc 'arange(0, 10, 0)' fp16
calc 'arange(0, 10, -1)' fp16
calc 'arange(0, inf)' fp16
calc 'arange(0, 1e12)' fp16
calc 'x = repeat(1, 200M); y = repeat(1, 200M); x + y' fp16
calc '[[1, 2, 3]] + repeat(1, 2)' fp16
EOF
