dtinfo cast 1.001 bf16 --round stochastic --seed 1
for seed in 1 2 3 4; do
    dtinfo cast -q 1.002 1.002 1.002 1.002 bf16 -r stochastic --seed $seed
done
