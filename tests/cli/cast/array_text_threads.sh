# Text in and text out are the same with every number of threads, and so is the report.
seq 1 3 90000 | sed 's/$/.25e-4/' | paste -sd ' ,\n' > in.txt
for as in raw text; do
    for threads in 1 3; do
        dtinfo cast in.txt fp8_e4m3fn --from text --as $as -o out.$as.$threads --threads $threads \
            -r stochastic --json | sed 's/"threads":[0-9]*//; s/out.[a-z]*.[0-9]//' > report.$threads
    done
    cmp out.$as.1 out.$as.3 && cmp report.1 report.3 && wc -c < out.$as.3
done
dtinfo cast out.raw.1 fp32 --from fp8_e4m3fn --as text --threads 3 | cmp - out.text.1
sed 's/33334/3333x/' in.txt > bad.txt
dtinfo cast bad.txt bf16 --from text -o bad.out --threads 3
echo "exit $?"
# If the numbers are so long that a tile of them does not fit into a piece, they are read one by one.
awk 'BEGIN { for (i = 0; i < 2100; i++) printf "1.%0700d%s", i, i % 3 ? " " : ",\n" }' > long.txt
dtinfo cast long.txt fp64 --from text --as text --threads 2 | sort | uniq -c
