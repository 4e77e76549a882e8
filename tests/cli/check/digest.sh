# one digest for one file, a list for several, whatever folder it is read from
python3 "$MAKERS/make_checkpoint.py" . --single
python3 "$MAKERS/make_checkpoint.py" shards
dtinfo check model.safetensors --digest "sha256:$(sha256sum < model.safetensors | cut -c -64)" | sed 's/[0-9a-f]\{64\}/HEX/'
(cd shards && sha256sum ./* > SHA256SUMS)
dtinfo check shards --valid --digest shards/SHA256SUMS; echo "exit $?"
printf ' ' >> shards/model.safetensors.index.json
dtinfo check shards --digest shards/SHA256SUMS | sed 's/[0-9a-f]\{64\}/HEX/'
dtinfo check model.safetensors --digest shards/SHA256SUMS; echo "exit $?"
dtinfo check shards --digest sha256:0000000000000000000000000000000000000000000000000000000000000000; echo "exit $?"
