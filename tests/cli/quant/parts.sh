# quantizing and dequantizing in parts
python3 "$MAKERS/make_checkpoint.py" model
echo '{"a": 1e-05}' > model/config.json
set -- int8 --per channel --keep '*norm*,*embed*,*head*'
dtinfo quant model "$@" -o one -q
dtinfo quant model "$@" -o out -q --part 1/2
dtinfo quant model "$@" -o out --part 2/2 --json | grep -o '"part":{[^}]*},"finish":[a-z]*\|"totals":{"tensors":[0-9]*'
dtinfo quant model "$@" -o out --finish --width 78
diff -r one out && echo same
dtinfo quant one bf16 --dequant -o plain -q
dtinfo quant one bf16 --dequant -o parts --part 2/2 --width 78
dtinfo quant one bf16 --dequant -o parts --finish
dtinfo quant one bf16 --dequant -o parts -q --part 1/2
dtinfo quant one bf16 --dequant -o parts --finish
diff -r plain parts && echo same
