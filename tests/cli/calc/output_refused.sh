dtinfo calc '[1, 2]' bf16 -o out.txt
dtinfo calc '[1, 2]' bf16,fp16 -o out.npy
dtinfo calc '[1, 2]' tf32 -o out.safetensors
dtinfo calc '[1, 2] + [1, 2, 3]' bf16 -o out.npy
ls
