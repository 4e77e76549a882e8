python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo quant model/model.safetensors nvfp4 -o q.safetensors -q --only '*.0.*proj*' --select '*.0.*' --pad
dtinfo mem q.safetensors bf16,nvfp4
dtinfo mem q.safetensors | sed -n 3p
dtinfo mem q.safetensors fp32 -v | head -4
dtinfo mem q.safetensors fp32 -q --raw
dtinfo mem q.safetensors fp32 -v --only '*q_proj*' --json | python3 "$TESTS/json_members.py" '.operands[0].tensors' .numbers .other_bytes
