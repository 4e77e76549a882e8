# several pairs, in one file that appears complete
dtinfo vectors fp4_e2m1:text sqrt:fp4_e2m1 -o all.tsv
grep '^#' all.tsv
dtinfo vectors fp4_e2m1:text -o all.tsv
echo "exit $?"
dtinfo vectors fp4_e2m1:text -o all.tsv --force
grep -c . all.tsv
dtinfo vectors fp4_e2m1:text sqrt:fp5 -o other.tsv
echo "exit $?"
ls
dtinfo vectors fp32:bf16 > /dev/full
echo "exit $?"
dtinfo __complete vectors fp32:mxfp8
dtinfo __complete vectors s
