python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo quant model/model.safetensors int8 -o q.safetensors -q --only '*.0.*proj*' --select '*.0.*'
dtinfo quant q.safetensors bf16 --dequant -o back.safetensors -q --keep '*norm*'
dtinfo compare model/model.safetensors q.safetensors --only '*.0.*'
echo "exit $?"
dtinfo compare q.safetensors back.safetensors --rtol 0.01
echo "exit $?"
dtinfo compare q.safetensors q.safetensors -v --only '*q_proj*'
dtinfo compare q.safetensors q.safetensors --bitwise
dtinfo compare model/model.safetensors q.safetensors --only '*.0.self_attn.q_proj*' --raw
echo "exit $?"
dtinfo compare model/model.safetensors q.safetensors --only '*.0.self_attn.q_proj*' --json | python3 "$TESTS/json_members.py" .outcome .counts '.tensors[0].b'
