python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo mem model.safetensors --train adam,adam8bit
dtinfo mem model.safetensors --only '*embed*' --train adam
