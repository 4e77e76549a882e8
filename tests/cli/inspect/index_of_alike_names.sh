# a shard whose name is the beginning of the one before
python3 "$MAKERS/make_checkpoint.py" model
cp model/model-00001-of-00002.safetensors shardx
cp shardx shard
echo '{"weight_map":{"model.embed_tokens.weight":"shardx","other":"shard"}}' > model.safetensors.index.json
dtinfo inspect model.safetensors.index.json -q
