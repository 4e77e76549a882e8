dtinfo mem 7B --fit 24GiB
dtinfo mem 7B -q --fit 7.1GB
dtinfo mem 7B bf16,fp32 --train all --fit 80GB
dtinfo mem 7B bf16,fp32 --train all --fit 80GB -q
