python3 "$MAKERS/make_checkpoint.py" . --hostile
dtinfo check hostile.safetensors --dtype bf16 -v; echo "exit $?"
dtinfo check hostile.npz --dtype bf16 -v | LC_ALL=C grep -c '[^ -~]'
