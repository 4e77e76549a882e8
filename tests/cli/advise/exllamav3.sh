# weights from a measurement of exllamav3: by how much the divergence falls with the most bits; what is none
python3 "$MAKERS/make_language_model.py" model
group() { printf '{"idx": %s, "layers": [%s], "candidates": [%s]}' "$1" "$2" "$3"; }
attn='"model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.k_proj", "model.layers.0.self_attn.v_proj", "model.layers.0.self_attn.o_proj"'
mlp='"model.layers.0.mlp.gate_proj", "model.layers.0.mlp.up_proj"' down='"model.layers.0.mlp.down_proj"'
more='{"dkld": -0.25, "dbits": 4096}, {"dkld": -0.5, "dbits": 8192}' less='{"dkld": -0.001, "dbits": 8192}, {"dbits": 4096, "dkld": -1}'
worse='{"dkld": 0.125, "dbits": 8192}'
write() { printf '{"base": {"dir": "a", "bpw": 3.0}, "alts": [], "groups": [%s], "base_kld": 0.1}' "$1" > m.json; }
try() { dtinfo advise model --fit 15kB --menu int8,mxfp4 --weights m.json "$@" 2>&1; echo "exit $?"; }
write "$(group 0 "$attn" "$more"), $(group 1 "$mlp" "$less"), $(group 2 "$down" "$worse")"
try --json | grep -o '"tensors":\["[^]]*\],"tensors_hex":null,"format":"[a-z0-9]*"\|"weight":[^,]*'
try -v | sed -n '5,14p'
write "$(group 0 "$attn" "$worse"), $(group 1 "$mlp" "$worse"), $(group 2 "$down" "$worse")"
try
write "$(group 0 "$attn" "$more"), $(group 1 "$mlp" "$less")"
try
try --keep '*down_proj*' -q
write "$(group 0 "$attn" "$more"), $(group 1 "$mlp, $mlp" "$less")"
try
write "$(group 0 "$attn" '{"dkld": "low"}')"
try
write "$(group 0 "" "$more")"
try
write "$(group 0 "$attn" '{"dkld": -1e999, "dbits": 1}')"
try
write ""
try
echo '{"groups": {}}' > m.json
try
echo '[]' > m.json
try
