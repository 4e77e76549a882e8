# names that attack a terminal arrive escaped
python3 "$MAKERS/make_checkpoint.py" . --hostile
dtinfo compare hostile.safetensors hostile.npz --ignore-missing
dtinfo compare hostile.safetensors hostile.gguf | LC_ALL=C grep -c '[^ -~]'
