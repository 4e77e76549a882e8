# Bits a weight: exact at the bound, with all parts, of the whole model, and as mem has it.
python3 "$MAKERS/make_checkpoint.py" model > /dev/null
dtinfo quant model mxfp4 -o q -q --only '*proj*' --select '*proj*' --pad
dtinfo mem q --only '*proj*' | sed -n 3p
dtinfo check q --only '*proj*' --max-bits-per-weight 4.6; echo "exit $?"
dtinfo check q --max-bits-per-weight 4; echo "exit $?"
# an export as nvfp4 with fp8 in it
PYTHONPATH="$MAKERS" python3 - <<'EOF'
from tensor_files import write_file
one, tensors = b"\0\0\x80?", {"position_ids": ("I64", (4,), bytes(32))}
for name in "abc":
    tensors[name + ".weight"] = ("F8_E4M3", (16, 32), bytes(512))
    tensors[name + ".weight_scale"] = ("F32", (), one)
for name in "de":
    tensors[name + ".weight"] = ("U8", (16, 16), bytes(256))
    tensors[name + ".weight_scale"] = ("F8_E4M3", (16, 2), b"\x38" * 32)
    tensors[name + ".weight_scale_2"] = ("F32", (), one)
write_file("m.safetensors", tensors)
tensors["f.weight"] = ("U8", (16, 16), bytes(256))
tensors["f.weight_scale"] = ("F32", (16, 1), one * 16)
write_file("unclear.safetensors", tensors)
EOF
dtinfo check m.safetensors --max-bits-per-weight 4.6; echo "exit $?"
dtinfo mem m.safetensors | sed -n 3p
for most in 6.6625 6.66249999999999999 6.66250000000000001 7; do
    dtinfo check m.safetensors --max-bits-per-weight $most; echo "exit $?"
done
dtinfo check m.safetensors --max-bits-per-weight 6.65 --dtype 'fp8_e4m3fn,nvfp4,int64'; echo "exit $?"
dtinfo check unclear.safetensors --max-bits-per-weight 99; echo "exit $?"
