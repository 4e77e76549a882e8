# Many lines, some of them invalid, give the same answers and errors with every number of threads.
seq 60000 | awk '{ print (NR % 777 == 223 ? "x" : "") $0 ".123456789e-3" }' > lines.txt
for form in -q --jsonl ''; do
    dtinfo cast - bf16,fp8_e5m2 $form --threads 1 < lines.txt > one.out 2> one.err
    echo "exit $?"
    dtinfo cast - bf16,fp8_e5m2 $form --threads 3 < lines.txt > three.out 2> three.err
    echo "exit $?"
    cmp one.out three.out && cmp one.err three.err && wc -l < three.err
done
dtinfo cast - bf16 -q -r stochastic --seed 3 --threads 1 < lines.txt > one.out 2> one.err
dtinfo cast - bf16 -q -r stochastic --seed 3 --threads 3 < lines.txt 2> three.err |
    cmp - one.out
tail -n 1 one.err
printf '0.1\n0.2' | dtinfo cast - bf16 -q --threads all
