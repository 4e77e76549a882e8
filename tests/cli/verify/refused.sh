# a recipe that cannot be done is a difference
python3 "$MAKERS/make_checkpoint.py" . --others
verify() { echo "{\"recipe\": \"$1\"}" > r.json; dtinfo verify weights.npy weights.npy --recipe r.json; echo "exit $?"; }
verify 'cast fp64'
verify 'quant int8 --layout bitsandbytes'
verify 'quant fp32 --dequant'
verify 'cast int8'
verify 'quant mxfp4 --axis 7'
