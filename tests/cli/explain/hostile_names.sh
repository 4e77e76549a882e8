# names that attack a terminal arrive escaped
python3 "$MAKERS/make_checkpoint.py" . --hostile
dtinfo explain hostile.safetensors hostile.safetensors -v
dtinfo explain hostile.safetensors hostile.gguf | LC_ALL=C grep -c '[^ -~]'
