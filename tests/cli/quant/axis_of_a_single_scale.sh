# One scale, or one range, is for the whole tensor: no axis, no channels, no blocks.
python3 "$MAKERS/make_checkpoint.py" model
for options in "--scale 1 --axis 0" "--scale 1 --per channel" "--min -1 --max 1 --axis 0" "--scale 1 --block 32" "--scale 1 --per tensor --axis 0"
do
    dtinfo quant model int8 $options -o out -q 2>&1 || echo $?
done
