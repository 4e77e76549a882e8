# projections that loaders store as one matrix share the tensor scale, unless each is to have its own
python3 "$MAKERS/make_checkpoint.py" model
set -- nvfp4 --keep '*norm*,*embed*,*head*,*down*' --threads 1
dtinfo quant model "$@" -o shared -v | grep -e share -e proj.weight
dtinfo check shared --quantized --only '*proj*'; echo "exit $?"
dtinfo quant model "$@" -o own --tensor-scale own --select '*.0.*' -v | grep -e share -e proj.weight
dtinfo check own --quantized --only '*proj*'; echo "exit $?"
dtinfo quant model "$@" -o one --select '*.0.*.k_proj*' --json | grep -o '"fused":[0-9]*\|"fused_with":\[[^]]*\]'
dtinfo explain model own
