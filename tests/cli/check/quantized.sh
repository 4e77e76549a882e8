python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo quant model/model.safetensors mxfp4 -o q.safetensors -q --only '*.0.*proj*' --select '*.0.*' --pad
dtinfo check q.safetensors --valid --dtype 'mxfp4,fp32:*norm*' --shape '*q_proj*:32,32' --no-nan --fits fp16 --max-abs 0.01
echo "exit $?"
dtinfo check q.safetensors --valid --dtype 'uint8,fp32:*norm*' --raw
