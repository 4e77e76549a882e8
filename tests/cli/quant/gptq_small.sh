# GPTQ's parts of a matrix so small that codes of 2, 3, 4 and 8 bits fit their shapes: none is guessed
gptq='"quant_method": "gptq", "group_size": -1, "checkpoint_format": "gptq"'
make() { python3 "$MAKERS/make_gptq.py" m.safetensors "$@" qweight=I32:1,4:18 scales=F16:1,4:60 qzeros=I32:1,1:0 g_idx=I32:4:0; }
run() { dtinfo quant m.safetensors fp32 --dequant -o out.safetensors -q "$@"; echo "exit $?"; }
make
run
make "{$gptq, \"bits\": 5}"
run
make "{$gptq}"
run
ls
run --bits 4
dtinfo inspect out.safetensors --stats
