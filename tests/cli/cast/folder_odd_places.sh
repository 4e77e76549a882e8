# a folder of shards to places that are none, or that are its own
python3 "$MAKERS/make_checkpoint.py" model
echo '{"a": 1e-05}' > model/config.json
dtinfo cast model bf16 -o one -q
dtinfo cast model bf16 -o /dev/full -q
echo "exit $?"
dtinfo cast model bf16 -o full > /dev/full
echo "exit $?"
diff -r one full && echo complete
dtinfo cast model bf16 -o - | head -c 1 | wc -c
dtinfo cast model bf16 -o model/config.json/x -q
dtinfo cast model bf16 -o missing/x -q
echo "within itself:"
dtinfo cast model bf16 -o model/inner -q && diff -r one model/inner && echo same
rm -r model/inner
dtinfo cast model bf16 -o model/inner -q --part 1/1 && dtinfo cast model bf16 -o model/inner -q --finish
diff -r one model/inner && echo same
rm -r model/inner
echo "onto itself:"
cp -r model own
dtinfo cast own bf16 -o own -q
echo "exit $?"
ln -s own link
dtinfo cast own bf16 -o link -q --force && diff -r one own && echo same
dtinfo cast one bf16 -o link -q --force --part 1/1 && diff -r one own && echo same
dtinfo cast own bf16 -o link -q --force --part 1/1
echo "links:"
mkdir elsewhere
mv model/config.json elsewhere
ln -s ../elsewhere/config.json model/config.json
ln -s nowhere model/tokenizer.json
dtinfo cast model bf16 -o linked
test ! -L linked/config.json && echo "no link"
cmp linked/config.json elsewhere/config.json && ls linked
