python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo quant model/model.safetensors nvfp4 -o q.safetensors -q --only '*.0.*proj*' --select '*.0.*' --pad
dtinfo inspect q.safetensors
dtinfo inspect q.safetensors --stats --only '*self_attn*' | head -6
dtinfo inspect q.safetensors --raw | sed -n '1,6p'
dtinfo inspect q.safetensors -q
dtinfo inspect q.safetensors --only '*q_proj*' --json | python3 "$TESTS/json_members.py" .options.raw '.files[0].tensor_count' '.files[0].stored_tensor_count' '.files[0].tensors' '.files[0].by_dtype' '.files[0].totals'
dtinfo inspect q.safetensors --only '*q_proj.weight_scale' --raw --json | python3 "$TESTS/json_members.py" .options.raw '.files[0].tensor_count' '.files[0].tensors'
