# a list that sha256sum reads, shards before their index; JSON has the digests beside the files
python3 "$MAKERS/make_checkpoint.py" .
dtinfo inspect . --digest
dtinfo inspect model.safetensors.index.json --digest | sha256sum -c -
dtinfo inspect . --digest --json | grep -o '"[a-z_]*digest":[^,}]*'
