# wherever a dtype is named: vLLM and others mean OCP's format by that name
head -c 8 /dev/zero > codes.bin
exec 2>&1
while IFS= read -r words; do
    echo "\$ dtinfo $words"
    eval "dtinfo $words" | sed '/OCP/!d'
done <<'EOF'
info fp8_e4m3
bits 1 FP8_E4M3
cast 1 fp8_e4m3
cast 1 fp32 --via fp8_e4m3
cast codes.bin bf16 --from fp8_e4m3 -o /dev/null
quant 1 2 fp8_e4m3
mem 7B fp8_e4m3
mem 7B --train adam --gradients fp8_e4m3
inspect codes.bin --from fp8_e4m3
compare codes.bin codes.bin --from fp8_e4m3
check codes.bin --from fp32 --fits fp8_e4m3
bench quant --dtypes fp8_e4m3 --size 4096 --time 0.001
cast 1 all
cast 1 fp8_e4m3fn
quant 1 2 mxfp8_e4m3
EOF
