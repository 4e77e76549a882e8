dtinfo finfo -q fp16 max
dtinfo finfo -q fp16 bf16
dtinfo finfo -q fp16 bf16 dtype,max,eps
dtinfo finfo --field dtype,max.bits,smallest_normal.hexfloat fp16,bf16,fp8_e8m0
dtinfo finfo --field dtype,part complex64
dtinfo finfo -q --field has_inf
