# what newcomers get wrong in commands about files: every line names the thing and the remedy
. "$TESTS/mistakes.sh"
python3 "$MAKERS/make_checkpoint.py" . --others > /dev/null
head -c 64 arrays.npz > cut.npz
head -c 10 /dev/zero > codes.bin
printf '1\n2\nthree\n' > numbers.txt
printf 'a,b\n1,2\n' > data.csv
printf '{"model_type": "llama"}' > config.json
: > empty
mkdir folder
try <<'EOF'
inspect
inspect none.safetensors
inspect model
inspect empty
inspect folder
inspect codes.bin
inspect numbers.txt
inspect data.csv
inspect config.json
inspect cut.npz
inspect '*.npz'
inspect bf16
inspect 70000
inspect arrays.npz --head 3
inspect arrays.npz --top 3
inspect arrays.npz --only
inspect arrays.npz --only none
inspect arrays.npz --grep '('
inspect arrays.npz --sort biggest
inspect arrays.npz --stat
inspect arrays.npz --hist
inspect arrays.npz --dtype bf16
inspect arrays.npz --from fp32
inspect codes.bin --from bf61
inspect codes.bin --from fp32
inspect codes.bin --from fp32 --shape 2x
inspect codes.bin --from fp16 --shape 7
inspect codes.bin --from text
compare
compare arrays.npz
compare arrays.npz arrays.npz arrays.npz
compare arrays.npz none.npz
compare codes.bin codes.bin
compare arrays.npz codes.bin
compare arrays.npz arrays.npz --tolerance 1e-3
compare arrays.npz arrays.npz --atol small
compare arrays.npz arrays.npz --rtol -1
compare arrays.npz arrays.npz --limit 3
compare arrays.npz arrays.npz --ulp 1
compare arrays.npz arrays.npz --exclude big
check
check none.safetensors
check codes.bin
check data.csv
check arrays.npz --no-nans
check arrays.npz --dtype
check arrays.npz --dtype bf61
check arrays.npz --fits mxfp4
check arrays.npz --max-abs big
check arrays.npz --shape 2x2
check arrays.npz --digest none.txt
check arrays.npz --top 3
cast codes.bin bf16
cast codes.bin bf16 -o out.bin
cast codes.bin bf16 --from fp32 -o out.bin
cast codes.bin bf16 --from fp16
cast codes.bin --from fp16 -o out.bin
cast codes.bin bf16 --from bf16 -o codes.bin
cast codes.bin bf16 --from bf16 -o none/out.bin
cast codes.bin bf16 --from bf16 -o folder
cast codes.bin bf16,fp16 --from bf16 -o out.bin
cast codes.bin all --from bf16 -o out.bin
cast numbers.txt bf16
cast numbers.txt bf16 --from text
cast numbers.txt bf16 --from text -o out.bin
cast numbers.txt bf16 --from txt -o out.bin
cast data.csv bf16 --from text -o out.bin
cast none.bin bf16 --from fp32 -o out.bin
cast none.safetensors bf16 -o out.safetensors
cast arrays.npz bf16
cast arrays.npz bf61 -o out.npz
cast arrays.npz bf16 -o out.npz --to fp16
cast arrays.npz bf16 -o out.safetensors --exclude big
cast arrays.npz bf16 -o out.safetensors --dryrun
cast arrays.npz bf16 -o out.safetensors --overwrite
cast arrays.npz bf16 -o out.safetensors --as numpy
cast arrays.npz bf16 -o out.safetensors --jobs 2
cast arrays.npz bf16 -o out.safetensors --threads 0
cast arrays.npz bf16 -o out.safetensors --threads two
cast arrays.npz bf16 -o out.safetensors --gpu
cast arrays.npz bf16 -o out.safetensors --device gpu
cast arrays.npz bf16 -o out.safetensors --max-memory 1G
cast arrays.npz bf16 -o out.safetensors --packing nibble
cast bf16 arrays.npz -o out.safetensors
cast arrays.npz 1 bf16
cast --input arrays.npz
quant arrays.npz
quant arrays.npz int8
quant arrays.npz bf16 -o out.safetensors
quant arrays.npz int8 -o out.gguf
quant codes.bin int8 -o out.safetensors
quant int8 arrays.npz -o out.safetensors
quant arrays.npz --dequant -o out.safetensors
quant arrays.npz bf16 --dequantize -o out.safetensors
quant arrays.npz int4 --group-size 128 -o out.safetensors
quant none.safetensors int8 -o out.safetensors
mem none.safetensors
mem codes.bin bf16
mem arrays.npz bf61
mem arrays.npz --only none
EOF
ls
