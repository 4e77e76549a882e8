# what explain says is verified, however many threads there are
python3 "$MAKERS/make_checkpoint.py" model
dtinfo quant model int4 --block 8 --only '*proj*' -o q -q
dtinfo explain model q --json > q.json
dtinfo verify model q --recipe q.json
dtinfo verify model q --recipe q.json --threads 1 -q
dtinfo verify model q --recipe q.json --threads 4 --json
dtinfo verify model model --recipe q.json; echo "exit $?"
