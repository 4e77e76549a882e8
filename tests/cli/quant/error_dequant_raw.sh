# raw codes have no scales, and here is no --from to give
printf 'abcdefgh' > codes.bin
dtinfo quant codes.bin bf16 --dequant -o x.safetensors
