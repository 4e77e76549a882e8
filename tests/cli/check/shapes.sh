python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo check model.safetensors --shape '*proj.weight:*,*'; echo "exit $?"
dtinfo check model.safetensors --shape '*norm*:32;*embed_tokens.weight:128x32;lm_head*:*,32'; echo "exit $?"
dtinfo check model.safetensors --shape '*norm*:*,32'; echo "exit $?"
dtinfo check model.safetensors --shape '*nrom*:32'; echo "exit $?"
dtinfo check model.safetensors --shape '*,*'; echo "exit $?"
dtinfo check model.safetensors --shape ':'; echo "exit $?"
dtinfo check model.safetensors --shape '*up_proj*:88'; echo "exit $?"
dtinfo check model.safetensors --shape '*up_proj*:88,32,*'; echo "exit $?"
