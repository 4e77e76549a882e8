# The final run removes a model of one file that would be loaded instead of the shards; a folder without other files
python3 "$MAKERS/make_checkpoint.py" model
cp model/*-00001-*.safetensors single
dtinfo cast model bf16 -o out --part 1/2 -q
dtinfo cast model bf16 -o out --part 2/2 -q
cp single out/model.safetensors
dtinfo cast model bf16 -o out --finish -q
echo "exit $?"
dtinfo cast model bf16 -o out --finish -q --force
echo "exit $?"
ls out
dtinfo cast model bf16 -o whole -q
diff -r whole out && echo same
