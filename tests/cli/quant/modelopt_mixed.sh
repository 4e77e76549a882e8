# several dtypes in ModelOpt's layout: an algorithm for each module, in config.json and in hf_quant_config.json
python3 "$MAKERS/make_checkpoint.py" model
printf '{\n  "hidden_size": 64\n}\n' > model/config.json
dtinfo quant model fp8_e4m3fn --layout modelopt --type '*attn*=mxfp8_e4m3,*gate*=nvfp4,*up*=nvfp4' -o out --keep '*norm*,*embed*,*down*' | head -2
ls out
cat out/config.json out/hf_quant_config.json
dtinfo check --quantized out
echo "one algorithm, in both files, too:"
dtinfo quant model nvfp4 --layout modelopt -o out --force --keep '*norm*,*embed*,*down*,*head*' | head -2
cat out/config.json out/hf_quant_config.json
dtinfo check --quantized out
echo "an older one stays:"
dtinfo quant model nvfp4 -o out --force --keep '*norm*,*embed*,*down*,*head*' | head -2
dtinfo check --quantized out | head -3
echo "channels in a mixture, and all by channel:"
dtinfo quant model fp8_e4m3fn --per channel --layout modelopt --type '*attn*=mxfp8_e4m3' -o channels --keep '*norm*,*embed*,*down*' > page
dtinfo check channels --loader vllm | cut -c1-150
dtinfo quant model fp8_e4m3fn --per channel --layout modelopt -o all --keep '*norm*,*embed*,*down*,*head*' > page
dtinfo check all --loader vllm
