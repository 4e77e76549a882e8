# config.json that is a link, in the input and in the output
python3 "$MAKERS/make_checkpoint.py" model
mkdir elsewhere out
printf '{"a": 1e-05}' > elsewhere/config.json
ln -s ../elsewhere/config.json model/config.json
printf 'old' > elsewhere/old
ln -s ../elsewhere/old out/config.json
dtinfo quant model int8 -o out -q --keep '*norm*,*embed*'
echo "exit $?"
cat elsewhere/old
echo
dtinfo quant model int8 -o out -q --keep '*norm*,*embed*' --force
cut -c 1-62 elsewhere/old
cat elsewhere/config.json
echo
ln -sf nowhere model/config.json
dtinfo quant model int8 -o other -q --keep '*norm*,*embed*'
dtinfo quant model int8 -o third --keep '*norm*,*embed*' > /dev/null
ls other
