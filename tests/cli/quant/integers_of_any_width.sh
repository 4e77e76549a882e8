exec 2>&1
dtinfo quant 1 2 3 int3
dtinfo quant 1 2 3 int12 --json | grep -o '"code_bytes":[0-9]*\|"packed":"[^"]*"'
dtinfo quant 1 2 3 int24 || echo "exit $?"
python3 "$MAKERS/make_checkpoint.py" one --single
dtinfo quant one/model.safetensors int3 -o x.safetensors || echo "exit $?"
dtinfo quant 1 2 3 ue4m3 || echo "exit $?"
