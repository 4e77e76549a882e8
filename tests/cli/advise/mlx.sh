# mlx: a format for each module, the plan, the file that the plan makes, and config.json; mem and verify agree
python3 "$MAKERS/make_language_model.py" model 64
dtinfo advise model --fit 25kB --loader mlx --menu stored,uint8,uint4,uint2,nvfp4 -o plan.json
cut -c 1-300 plan.json
dtinfo quant model --plan plan.json -o small/ -q
dtinfo mem small | sed -n 2,3p
dtinfo verify model small --recipe plan.json
dtinfo explain model small
dtinfo check small --quantized --loader mlx
tail -c 700 small/config.json; echo
