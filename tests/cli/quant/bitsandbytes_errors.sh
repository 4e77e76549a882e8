# Parts that do not fit each other, and hostile states: refused by name, and nothing is written.
try() {
    python3 "$MAKERS/make_bitsandbytes.py" bad.safetensors "$@"
    dtinfo quant bad.safetensors fp32 --dequant -o out.safetensors -q 2>&1 || echo "exit $?"
}
state() {
    printf '{"quant_type": "%s", "blocksize": %s, "dtype": "%s", "shape": %s%s}' "$1" "$2" "$3" "$4" "$5"
}
try && dtinfo inspect out.safetensors -q && rm out.safetensors
echo "# parts"
try -absmax
try -quant_map
try absmax=F32:4
try absmax=U8:3
try quant_map=F32:16
try quant_map=F32:15
try '=U8:64,1'
try '=U8:130'
try '=F32:2,65'
try nested_absmax=F32:1
try nested_absmax=F32:1 nested_quant_map=F32:256
try quant_state.bitsandbytes__fp4=U8:4
try quant_state.bitsandbytes__nf4=F32:20
try quant_state.bitsandbytes__nf4=U8:5000
try -quant_state.bitsandbytes__nf4
echo "# states"
try quant_state.bitsandbytes__nf4=U8:0
for text in '[]' 'null' '{' '{"quant_type": "nf4"}' '{"quant_type": "nf4", "quant_type": "nf4"}' '{"version": 2}'; do
    try "$text"
done
try "$(state fp4 64 float32 '[2, 65]')"
try "$(state int4 64 float32 '[2, 65]')"
for block in 0 48 16 8192 -64 64.0 '"64"' 18446744073709551616; do
    try "$(state nf4 "$block" float32 '[2, 65]')"
done
try "$(state nf4 64 int8 '[2, 65]')"
try "$(state nf4 64 float32 130)"
try "$(state nf4 64 float32 '[2, -65]')"
try "$(state nf4 64 float32 '[2, 64]')"
try "$(state nf4 64 float32 '[4294967296, 4294967296, 4294967296]')"
try "$(state nf4 64 float32 '[0, 18446744073709551615]')"
try "$(state nf4 64 float32 '[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,130]')"
try "$(state nf4 64 float32 "$(printf '%200s' '' | tr ' ' '[')")"
try "$(state nf4 64 float32 '[2, 65]' ', "nested_blocksize": 256')"
for offset in 1e39 NaN '"1"'; do
    try "$(state nf4 64 float32 '[2, 65]' ", \"nested_blocksize\": 256, \"nested_dtype\": \"float32\", \"nested_offset\": $offset")" \
        absmax=U8:3 nested_absmax=F32:1 nested_quant_map=F32:256
done
ls out.safetensors 2>&1
echo "# they are shown as they are stored"
try "$(state nf4 0 float32 '[2, 65]')"
dtinfo inspect bad.safetensors
echo "# options"
python3 "$MAKERS/make_checkpoint.py" model --single
q() { dtinfo quant model/model.safetensors "$@" 2>&1; echo "exit $?"; }
q nf4 -o o.safetensors --nested-absmax
q nf4 -o o.safetensors --layout bitsandbytes --pad
q nf4 -o o.safetensors --layout bitsandbytes --packing low
q int4 -o o.safetensors --layout bitsandbytes
q uint8 -o o.safetensors --layout bitsandbytes
q nf4 -o o.npy --layout bitsandbytes --select '*0.self_attn.q_proj*'
q fp32 --dequant --nested-absmax -o o.safetensors
dtinfo quant 1 2 nf4 --nested-absmax; echo "exit $?"
python3 - <<'PYTHON'
import json, struct
data = struct.pack("<3f", 1, float("nan"), 3)
text = json.dumps({"w": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}).encode()
open("nan.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
PYTHON
dtinfo quant nan.safetensors nf4 -o o.safetensors --layout bitsandbytes --double-quant; echo "exit $?"
dtinfo quant nan.safetensors nf4 -o o.safetensors --layout bitsandbytes -q; echo "exit $?"
ls o.*
echo "# other layouts, read as this one"
dtinfo quant model/model.safetensors nf4 -o packed.safetensors --select '*q_proj*' --pad -q
dtinfo quant packed.safetensors fp32 --dequant --layout bitsandbytes -o no.safetensors; echo "exit $?"
dtinfo calc 'randn(2, 64)' fp32 --seed 1 -o w.npy -q
dtinfo quant w.npy int8 -o q.npy -q
dtinfo quant q.npy fp32 --dequant --layout bitsandbytes -o no.npy; echo "exit $?"
