# Scales along another axis than loaders have: the tensors are written, and config.json says nothing of them
python3 "$MAKERS/make_checkpoint.py" model
echo '{"model_type": "llama"}' > model/config.json
dtinfo quant model int8 --per channel --axis 1 --keep '*norm*' -o out | grep config
cat out/config.json
dtinfo quant model int8 --per channel --axis 0 --keep '*norm*' -o usual | grep config
jq -c .quantization_config.quant_method usual/config.json
