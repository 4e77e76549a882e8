# the table of --as fits the page, and --columns picks from it
python3 "$MAKERS/make_checkpoint.py" . --single > /dev/null
dtinfo inspect model.safetensors --as fp8_e4m3fn --only '*mlp*' --width 60 | head -n 12
dtinfo inspect model.safetensors --as fp8_e4m3fn --only '*mlp*' --columns 'name,to zero' | head -n 5
