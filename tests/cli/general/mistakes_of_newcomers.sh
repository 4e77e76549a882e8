# what people type first, and what the answer tells them to type
exec 2>&1
cp "$TESTS/../../docs/sample/model.safetensors" .
head -c 64 model.safetensors > x.bin
try() { dtinfo "$@" -o new.safetensors; echo "exit $?"; }
ask() { dtinfo "$@"; echo "exit $?"; }
ask cast 0.1 to bf16
ask cast 0.1,0.2 bf16
ask cast 0.1,0.2,1e-3 bf16
ask cast '0.1, 0.2' bf16
ask cast '1 + 2' bf16
ask cast 0.1 q8_0
ask cast 0.1 mxfp4
ask finfo fp16 eps
ask finfo -q fp16 eps
ask iinfo int8 max
ask inspect model.safetensors --nan
ask check model.safetensors --nan
ask inspect s3://bucket/model.safetensors
ask cast model.safetensors bf16 new.safetensors
ask cast model.safetensors bf16 fp16
ask cast --from fp32 x.bin bf16 y.bin
ask quant model.safetensors mxfp4 ./new
try cast model.safetensors bf16 --keep norm
try cast model.safetensors bf16 --keep '*nrom*'
try quant model.safetensors mxfp4 --quant-only mlp --dequant
try quant model.safetensors mxfp4 --quant-only mlp
ls
