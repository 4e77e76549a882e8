# every word that stands for a rounding mode, an overflow policy or a stack
for word in nearest RNE rn even half-even rna away rtz RZ trunc truncate rup ru rp ceil rdn rd rm floor; do
    echo "$word: $(dtinfo cast -q -2.5 int8 --round $word) $(dtinfo cast -q 3.5 int8 --round $word)"
done
for word in sr random; do
    dtinfo cast 1.3 int8 --round $word --seed 1 --json | grep -o '"round":"[a-z]*"'
done
for word in sat CLAMP clip satfinite modulo; do
    dtinfo cast 300 int8 --overflow $word --json | grep -o '"overflow":"[a-z]*"'
done
for word in pytorch jax np Torch; do
    dtinfo cast 1 int8,bf16 --like $word --json 2>&1 | grep -o '"like":"[a-z_]*"\|has no [a-z0-9]*'
done
dtinfo quant 1 int8 --like pytorch | head -2
dtinfo finfo fp16 --style pytorch
