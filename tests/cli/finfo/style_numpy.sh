for dtype in fp16 fp32 fp64; do
    dtinfo finfo --style numpy $dtype
done
