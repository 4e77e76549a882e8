for dtype in fp16 bf16 fp32 fp64 fp8_e4m3fn fp8_e5m2 fp8_e5m2fnuz complex64; do
    dtinfo finfo --style torch $dtype
done
