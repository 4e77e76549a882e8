dtinfo finfo -q fp16 maxx
dtinfo finfo --field maxx fp16
dtinfo finfo --field max.bit fp16
dtinfo finfo --field max, fp16
dtinfo finfo --field max fp16 --json
dtinfo finfo -q fp61
