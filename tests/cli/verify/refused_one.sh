# of tensors that share a recipe, the one that it does not fit is named, not the first of them
python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo cast model.safetensors fp16 --cast-only model.norm.weight -o b.safetensors -q
echo '{"recipe": "kept"}' > r.json
dtinfo verify model.safetensors b.safetensors --recipe r.json; echo "exit $?"
