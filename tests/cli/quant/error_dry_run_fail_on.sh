python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo quant model/model.safetensors int8 --dry-run --fail-on clipped
