# the other files of a folder; config.json changes in one member alone
python3 "$MAKERS/make_checkpoint.py" model
printf '{\n  "rms_norm_eps": 1e-05,\n  "rope_theta": 1000000.0,\n  "name": "a\\u0062c"\n}\n' > model/config.json
printf 'tokens' > tokens
ln -s ../tokens model/tokenizer.model
mkdir model/original
printf 'x' > model/.hidden
printf 'x' > model/pytorch_model.bin
printf 'x' > model/hf_quant_config.json
dtinfo quant model mxfp4 -o quantized --keep '*norm*,*embed*,*down*' -q
ls -A quantized
cat quantized/config.json quantized/tokenizer.model
echo
echo "as it was:"
dtinfo quant quantized bf16 --dequant -o plain -q
cmp plain/config.json model/config.json && echo same
dtinfo cast model fp16 -o half -q
ls -A half
echo "layouts without a loader:"
dtinfo quant model mxfp4 --layout modelopt -o no --keep '*norm*,*embed*,*down*' -q --no-copy
ls -A no
dtinfo quant model mxfp4 --layout modelopt -o no2 --keep '*norm*,*embed*,*down*' | grep config
cmp no2/config.json model/config.json && echo same
echo "not JSON:"
printf '{"a": 1,}' > model/config.json
dtinfo quant model mxfp4 -o bad --keep '*norm*,*embed*,*down*' -q
echo "exit $?"
ls bad
