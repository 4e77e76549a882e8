# A matrix of int4 that AMD Quark packed: what it is says config.json alone.
mkdir q && cp "$TESTS/../data/quark.safetensors" q/theirs.safetensors
cp "$TESTS/../data/quark_numbers.safetensors" numbers.safetensors
configure() {
    echo "{\"quantization_config\": {\"quant_method\": \"quark\", \"global_quant_config\": {\"weight\": {\"dtype\": \"$1\"," \
        "\"qscheme\": \"per_group\", \"group_size\": $2}}, \"export\": {\"pack_method\": \"$3\"}}}" > q/config.json
}
configure int4 16 reorder
dtinfo inspect q/theirs.safetensors
dtinfo compare q/theirs.safetensors numbers.safetensors
dtinfo quant q/theirs.safetensors fp32 --dequant -o q/back.safetensors
dtinfo compare q/back.safetensors numbers.safetensors
configure uint4 16 reorder
dtinfo compare q/theirs.safetensors numbers.safetensors | head -1
configure int4 16 order
dtinfo compare q/theirs.safetensors numbers.safetensors | head -1
configure int4 24 order
dtinfo quant q/theirs.safetensors fp32 --dequant -o no.safetensors; echo "exit $?"
configure int3 16 order
dtinfo quant q/theirs.safetensors fp32 --dequant -o no.safetensors; echo "exit $?"
