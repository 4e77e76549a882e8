exec 2>&1
for name in FP8E4M3 fp8e4m3 FP8E5M2 fp8_e4m3 F8E4M3 ml_dtypes.float8_e4m3 F8_E4M3 CUDA_R_8F_E4M3 CUDA_R_8F_UE4M3 tl.float8e4nv \
    tl.float8e4b8 tl.float8e5b16 tl.float8e4b15 posit16 fp128 q4_k mxfp8 fp; do
    dtinfo finfo "$name" | sed 2,9d
done
dtinfo iinfo tl.int1
dtinfo iinfo int3
dtinfo cast 300 FP8E4M3,fp8_e4m3
dtinfo quant 300 q4_k
dtinfo mem 7B q4_k,mxfp8
