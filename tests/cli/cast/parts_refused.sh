# A part is K/N, K from 1 to N.
python3 "$MAKERS/make_checkpoint.py" model
for part in 0/2 3/2 1/0 1 1/ /2 1/2/ 1/1000000000 a/2
do
    dtinfo cast model bf16 -o out --part $part 2>&1 || echo $?
done
