# dtypes that are missing, wrong or not in their place; options; what the shell makes of *
cp "$TESTS/../../docs/sample/model.safetensors" .
. "$TESTS/mistakes.sh"
ESC=$(printf '\033') FF=$(printf '\377')
export ESC FF
try <<'EOF'
calc
calc 1+1
calc 256 + 1
calc bf16
calc bf16 1+1
calc 1+1 fp16 bf16
calc 1+1 to fp16
calc 1+1 bf61
calc 1+1 fp8
calc 1+1 fp16,
calc 1+1 fp16,,bf16
calc 1+1 mxfp4
calc 1+1 q8_0
calc 1+1 complex64
calc 1+1 e9m99
calc 1+1 1+1
calc 2 * 3 bf16
calc '2 * 3' bf16 -q
calc --accumulate int8 'sum([1.5, 2])' fp16
calc --accumulate fp32 'sum([1, 2])' int8 -q
calc --accumulate int32 'dot([100, 100], [2, 2])' int8 -q
calc --accumulate mxfp4 1 fp16
calc --accumulate complex64 1 fp16
calc --accumulate fp99 1 fp16
calc --accumulate
calc --order blocked:0 1 fp16
calc --order blocked 1 fp16
calc --order blocked:x 1 fp16
calc --order blocked:99999999999 1 fp16
calc --order pairwise:4 1 fp16
calc --order kahn 1 fp16
calc --round nearst 1 fp16
calc --subnormals ftz 1 fp16
calc --ftz 1 fp16
calc --acc fp32 1 fp16
calc --kahan 1 fp16
calc --fail-on inf 1 fp16
calc --true-value yes 1 fp16
calc --exact 1 fp16
calc --seed -1 1 fp16
calc --seed one 1 fp16
calc --dtype bf16 1+1
calc --to bf16 1+1
calc --keep norm 1 fp16
calc --dequant 1 fp16
calc --from fp32 1 fp16
calc --stats 1 fp16
calc --field value 1 fp16
calc --digits 3 1 fp16
calc 1+1 fp16 -o x.txt
calc 1+1 fp16 -o none/x.npy
calc 1+1 fp16,bf16 -o x.npy
calc 1+1 fp16 -o model.safetensors
calc model.safetensors fp16
calc @model.safetensors fp16
calc @model.safetensors:none fp16
calc @model.safetensors: fp16
calc @none.npy fp16
calc @. fp16
calc @ fp16
calc '@"model' fp16
calc "@${ESC}m.npy" fp16
calc "@${FF}.npy" fp16
calc "256 + 1" "${ESC}[1m"
calc model.safetensors + 1 bf16
clac 1+1 fp16
EOF
ls
