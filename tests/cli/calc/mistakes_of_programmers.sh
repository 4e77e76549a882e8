# what is written in Python, C or on paper, and what to write instead
. "$TESTS/mistakes.sh"
try <<'EOF'
calc 'x**2' fp16
calc '2**8' bf16
calc 'x = 2; x**-1' bf16
calc '7 // 2' int8
calc '7 % 2' int8
calc '1 == 1' fp16
calc 'x = 1; x != 2' fp16
calc '1 <= 2' fp16
calc '1 << 3' int8
calc '6 & 3' int8
calc 'x = 1; x += 1' fp16
calc 'x = 1; x -= 1' fp16
calc 'x = 1; x =-1; x' fp16 -q
calc '1_000' fp16 -q
calc 'math.exp(1)' fp16
calc 'np.sum([1, 2])' fp16
calc 'torch.nn.functional.softmax([1, 2])' fp16
calc 'torch.softmaxx([1, 2])' fp16
calc 'np.float16(1)' fp16
calc 'np.array([1, 2])' fp16
calc 'math.pi' fp16
calc 'np.inf' fp16
calc 'x.shape' fp16
calc 'float16(1)' fp16
calc 'float("inf")' fp16
calc 'pi' fp16
calc '2*e' fp16
calc 'True + True' fp16
calc 'eps' fp16
calc 'ln(2)' fp16
calc 'log10(2)' fp16
calc 'pow(2, 3)' fp16
calc 'std([1, 2])' fp16
calc 'average([1, 2])' fp16
calc 'clip(300, 0, 255)' uint8
calc 'log_softmax([1, 2])' fp16
calc 'len([1, 2])' fp16
calc 'zeros(3)' fp16
calc 'range(3)' fp16
calc 'tensor([1, 2])' fp16
calc 'load("x.npy")' fp16
calc '[1, 2].sum()' fp16
calc '[1, 2] @ [3, 4]' fp16
calc 'x = [1, 2]; x[0]' fp16
calc '{1, 2}' fp16
calc '"1"' fp16
calc "'1'" fp16
calc 'lambda x: x' fp16
calc '1 if 2 else 3' fp16
calc '[x for x in y]' fp16
calc '2×3' fp16
calc '1 − 2' fp16
calc '3²' fp16
calc '√2' fp16
calc 'π' fp16
EOF
