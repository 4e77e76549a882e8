# A name that says nothing about the kind of file is refused, unless --as does.
python3 "$MAKERS/make_checkpoint.py" model --single
try() { dtinfo "$@" -q 2>&1; echo "exit $?"; }
try cast model/model.safetensors bf16 -o out.txt
try cast model/model.safetensors bf16 -o model.v2/out.pt
try quant model/model.safetensors int8 -o out.txt
try cast model/model.safetensors bf16 -o out.txt --as safetensors
try cast model/model.safetensors bf16 -o out --select lm_head.weight
try cast model/model.safetensors bf16 -o .hidden
try cast model/model.safetensors bf16 -o /dev/null
ls -A
