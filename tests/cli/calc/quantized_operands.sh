# needs mpfr
cp "$TESTS/../../docs/sample/model.safetensors" .
dtinfo quant model.safetensors mxfp4 --keep "*norm*" -o q.safetensors -q
dtinfo quant q.safetensors fp32 --dequant -o back.safetensors -q
dtinfo calc 'max(abs(@q.safetensors:embed.weight - @back.safetensors:embed.weight))' fp32 -q
dtinfo calc 'max(abs(@q.safetensors:embed.weight - @model.safetensors:embed.weight))' fp32 -q
dtinfo inspect q.safetensors --raw | head -n 4
dtinfo calc 'max(@q.safetensors:embed.weight_scale)' fp8_e8m0 -q
