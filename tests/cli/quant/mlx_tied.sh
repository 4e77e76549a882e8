# The output layer of a model with tied embeddings, which mlx-lm refuses to load quantized: it stays.
mkdir model
python3 "$MAKERS/make_checkpoint.py" made --single
dtinfo cast made/model.safetensors bf16 --select 'lm_head*,*embed*' -o model/model.safetensors -q
echo '{"tie_word_embeddings": true}' >model/config.json
exec 2>&1
dtinfo quant model uint8 --layout mlx --block 32 -o tied | head -1
dtinfo inspect tied --raw | grep -v '^$'
cat tied/config.json; echo
dtinfo explain model tied --json >recipes.json; dtinfo verify model tied --recipe recipes.json
echo "by a pattern, and by a plan that has it:"
dtinfo quant model uint8 --layout mlx --block 32 -o kept --keep '*lm_head*' | head -1
dtinfo quant model uint8 --layout mlx --block 32 -o typed --type '*lm_head*=uint4' | head -1
sed 's/true/false/' model/config.json >untied.json && mkdir other && mv untied.json other/config.json && cp model/model.safetensors other
dtinfo advise other --loader mlx --menu mxfp8 --fit 1GB -o plan.json -q
dtinfo quant model --plan plan.json -o planned | head -1
echo "other layouts, and no tie:"
dtinfo quant model int8 -o compressed | head -1
dtinfo quant other uint8 --layout mlx --block 32 -o untied | head -1
echo '{' >model/config.json
dtinfo quant model/model.safetensors uint8 --layout mlx --block 32 -o kept.safetensors --keep '*lm_head*' | head -1
dtinfo quant model/model.safetensors uint8 --layout mlx --block 32 -o no.safetensors; echo "exit $?"
