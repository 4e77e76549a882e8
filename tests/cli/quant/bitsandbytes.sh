# Written: names, dtypes and shapes of parts, the state, and back. Blocks cross rows, the last is short.
python3 "$MAKERS/make_checkpoint.py" model --single
dtinfo quant model/model.safetensors nf4 -o nf4.safetensors --layout bitsandbytes --select '*.0.*proj*,*norm*' --keep '*norm*'
dtinfo inspect nf4.safetensors --raw
dtinfo quant model/model.safetensors bnb_fp4 -o fp4.safetensors --layout bitsandbytes --nested-absmax --select '*.0.*proj*'
dtinfo compare model/model.safetensors fp4.safetensors --top 0 # errors are those of the nested scales
dtinfo inspect fp4.safetensors --raw --json | jq -r '.files[].tensors[] | [.name, .dtype, (.shape | tostring)] | @tsv' | grep 0.self_attn.q_proj
for file in nf4 fp4; do
    grep -a -o '{"quant_type[^}]*} *' $file.safetensors | sed 's/$/|/'
    dtinfo quant $file.safetensors fp32 --dequant -o back.safetensors --force
    dtinfo compare $file.safetensors back.safetensors
done
dtinfo quant model/model.safetensors nf4 -o no.safetensors --layout bitsandbytes --double-quant --dry-run --json |
    jq -c '.options, .totals.tensors, (.tensors[0] | .axis, (.parts[] | [.part, .name, .dtype, .shape]))'
# Division is as in bitsandbytes, unless --division selects another.
dtinfo quant model/model.safetensors nf4 -o no.safetensors --layout bitsandbytes --division exact --select '*.0.*q_proj*' --dry-run | sed -n 3p
# With several nested blocks, the reported errors agree with compare to about 8 digits.
dtinfo calc 'randn(300,250)' fp32 --seed 7 -o w.npy -q
dtinfo quant w.npy nf4 --as safetensors -o w.safetensors --layout bitsandbytes --nested-absmax --json |
    jq -c '.totals.loss | [.max_absolute_error.value, .mean_absolute_error.value, .root_mean_square_error.value]'
dtinfo compare w.npy w.safetensors --json | jq -c '.total | [.max_absolute.value, .mean_absolute.value, .root_mean_square.value]'
