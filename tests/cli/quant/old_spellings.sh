python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo quant model/model.safetensors int8 --dry-run --quant-only '*proj*' >new
dtinfo quant model/model.safetensors int8 --dry-run --only '*proj*' >old
cmp old new && grep -c 'not in --quant-only' new
dtinfo quant 1 2 int4 --packing high >new
dtinfo quant 1 2 int4 --nibble high >old
cmp old new && grep -c . new
dtinfo quant --help | grep -e --only -e --nibble
