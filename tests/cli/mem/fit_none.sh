dtinfo mem 7B bf16,fp8_e5m2 --fit 6.9GB
