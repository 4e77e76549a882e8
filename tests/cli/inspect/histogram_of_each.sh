python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo inspect --histogram --each model.safetensors --only '*.0.*norm*,*position*' --max-memory 1MiB --threads 2
