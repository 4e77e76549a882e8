python3 "$TESTS/make_checkpoint.py" model --single
dtinfo quant model/model.safetensors int8 --dry-run --fail-on clipped
