python3 "$MAKERS/make_checkpoint.py" . --single
made() {
    dtinfo quant model.safetensors "$@" --only '*up_proj*' --select '*up_proj*' --pad -o q.safetensors -q --force
    dtinfo explain model.safetensors q.safetensors | head -n 2
}
made mxfp4 --mx-scale rfloor
made nvfp4 --nv-scale unrounded
dtinfo quant 0.1 0.7 -3 7 mxfp4 --mx-scale rfloor
dtinfo quant 0.1 0.7 -3 7 nvfp4 --nv-scale unrounded | head -n 12
