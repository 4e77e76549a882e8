dtinfo mem 176e9 bf16,int8 --fit 8x80GB
dtinfo mem 176e9 bf16,int8 --fit 8x80GB --columns dtype,ratio
dtinfo mem 10 int8 --fit 2X5B
dtinfo mem 11 int8 --fit 2x5.5B
dtinfo mem 7B bf16 --train adam --fit 2x80GB
dtinfo mem 176e9 bf16,fp32 -q --fit 5x80GB
dtinfo mem 176e9 bf16 --json --fit 8x80GB | jq -c '(.sizes[] | [.ratio, .fits, .left_bytes, .left_each_bytes, .devices]), .room'
