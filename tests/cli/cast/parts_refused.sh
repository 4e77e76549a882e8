# what is no part, and what cannot be divided: a line each, and nothing is written
python3 "$MAKERS/make_checkpoint.py" model
python3 "$MAKERS/make_checkpoint.py" single --single
for part in 0/3 4/3 1 1/0 /2 1/2/3 -1/2 1.5/2 1/1000001 1/99999999999999999999999 ''; do
    dtinfo cast model bf16 -o out --part "$part"
done
dtinfo cast model bf16 -o out --part 1/2 --finish
dtinfo cast single/model.safetensors bf16 -o out.safetensors --part 1/2
dtinfo cast model bf16 -o out.safetensors --part 1/2
dtinfo cast model bf16 -o - --finish
dtinfo cast model bf16 --dry-run --finish
dtinfo cast model bf16 -o model/. --force --part 1/2
dtinfo cast 1 bf16 --part 1/2
dtinfo quant 1 2 int8 --finish
dtinfo cast model bf16 -o out --finish
dtinfo cast model bf16 -o out -q --part 1/1
echo mine > out/model.safetensors.index.json
dtinfo cast model bf16 -o out --finish
echo "exit $?"
cat out/model.safetensors.index.json
echo mine > out/model-00001-of-00002.safetensors
dtinfo cast model bf16 -o out --finish
dtinfo cast model fp16 -o out --part 1/1
echo "exit $?"
dtinfo cast model bf16 -o out --finish --json -q | grep -o '"code.*' | cut -c -60
ls -A . out
