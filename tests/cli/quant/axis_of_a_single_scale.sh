# One scale, or one range, is for the whole tensor: no axis, no channels, no blocks.
python3 "$MAKERS/make_checkpoint.py" model
refused() { dtinfo quant model int8 "$@" -o out -q 2>&1 || echo $?; }
refused --scale 1 --axis 0
refused --scale 1 --per channel
refused --min -1 --max 1 --axis 0
refused --scale 1 --block 32
refused --scale 1 --per tensor --axis 0
