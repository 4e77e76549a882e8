dtinfo cast 1/3 fp64,fp32,fp16,bf16 --digits 60
