# a run in parts: which shards are whose, what each says, and the same bytes in the end
python3 "$MAKERS/make_checkpoint.py" model
echo '{"a": 1e-05}' > model/config.json
dtinfo cast model bf16 -o one -q
dtinfo cast model bf16 -o out --part 2/2
ls -A out
dtinfo cast model bf16 -o out --part 3/3
dtinfo cast model bf16 -o out --finish
echo "exit $?"
dtinfo cast model bf16 -o out --part 1/3 --dry-run
dtinfo cast model bf16 -o out -q --part 1/3
dtinfo cast model bf16 -o out --finish --dry-run
dtinfo cast model bf16 -o out --finish --json | tr ',' '\n' | grep -A 3 '"path":"out/\|"part"\|"finish"'
diff -r one out && echo same
dtinfo cast model bf16 -o out -q --part 1/2 && dtinfo cast model bf16 -o out -q --finish && diff -r one out && echo again
