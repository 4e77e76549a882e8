# the documents: the answer, the plan, the measurements, which are taken from their file the second time
python3 "$MAKERS/make_language_model.py" model
dtinfo advise model --fit 18kB --menu stored,int8,nvfp4 --measurements m.json -o plan.json --json
dtinfo advise model --fit 18kB --menu stored,int8,nvfp4 --measurements m.json --json | cut -c 1-100
cat plan.json m.json
printf '# name,number\n*down_proj*,1000\nmodel.layers.0.self_attn.o_proj.weight,2\n*,1\n' > w.csv
dtinfo advise model --fit 18kB --menu int8,nvfp4 --measurements m.json --weights w.csv --keep '*' --json 2>&1; echo "exit $?"
dtinfo advise model --fit 18kB --menu int8,nvfp4 --measurements m.json --weights w.csv
