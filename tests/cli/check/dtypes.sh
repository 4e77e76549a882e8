python3 "$MAKERS/make_checkpoint.py" . --single
python3 "$MAKERS/make_checkpoint.py" . --others
dtinfo check model.safetensors --dtype bf16,fp32,int64; echo "exit $?"
dtinfo check model.safetensors --dtype 'fp32,bf16:*embed_tokens*,bf16:lm_head.*,int64:*position_ids'; echo "exit $?"
dtinfo check model.safetensors --dtype bf16; echo "exit $?"
dtinfo check model.safetensors --dtype 'bf16:*norm*' -v; echo "exit $?"
dtinfo check model.safetensors --dtype 'bf16,fp32:*norm*' --only '*embed*weight,*norm*'; echo "exit $?"
dtinfo check model.gguf --dtype 'fp16,q8_0:*attn_q*,fp32:*norm*'; echo "exit $?"
