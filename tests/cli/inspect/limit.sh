# The first tensors only; data of the others is not read, but for a histogram of all.
python3 "$MAKERS/make_checkpoint.py" . --single
dtinfo inspect model.safetensors --limit 3
dtinfo inspect model.safetensors --limit 2 --sort size --stats --only '*layers*'
dtinfo inspect model.safetensors --limit 1 --as fp8_e4m3fn --only '*norm*'
dtinfo inspect model.safetensors --limit 1 --stats --histogram --only '*norm*'
dtinfo inspect model.safetensors --limit 0 --stats --only '*norm*'
dtinfo inspect -q model.safetensors --limit 2
dtinfo inspect model.safetensors --limit 100 --only '*embed*'
dtinfo inspect model.safetensors --limit 1 --tree; echo "exit $?"
dtinfo inspect model.safetensors --limit 1 --digest; echo "exit $?"
dtinfo inspect model.safetensors --limit -1; echo "exit $?"
