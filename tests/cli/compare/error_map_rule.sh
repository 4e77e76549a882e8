python3 "$MAKERS/make_checkpoint.py" . --single
printf '%s\n' 'a -> b' '(a -> b' > names.txt
dtinfo compare model.safetensors model.safetensors --map names.txt
