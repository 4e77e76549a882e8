dtinfo finfo fp64 fp32 fp16 tf32
